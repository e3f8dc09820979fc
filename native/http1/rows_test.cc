// Rows, templates and requests that differ, by contract/vectors/data.json. Layer: test.
#include "http1/rows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "test/vectors.h"

namespace netdyno::http1 {
namespace {

/// A file of a test, which goes with it.
class File {
 public:
  explicit File(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
      bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    const int fd = ::mkstemp(name_.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
    std::ofstream(name_, std::ios::binary) << bytes;
  }
  ~File() { ::unlink(name_.c_str()); }
  const std::string& name() const { return name_; }

 private:
  std::string name_ = ::testing::TempDir() + "rows-XXXXXX";
};

TEST(Templates, AreFilledAsTheVectorsSay) {
  const auto vectors = netdyno::test::vectors("data.json");
  std::map<std::string, Rows> files;
  for (const auto& [name, of] : vectors.at("files").items()) {
    const File file(of.at("hex"));
    files.try_emplace(name, file.name());
    EXPECT_EQ(files.at(name).rows(), of.at("rows").get<std::uint64_t>());
  }
  int filled = 0;
  for (const auto& request : vectors.at("requests")) {
    const std::string text = request.at("template");
    if (text.find("{key}") != std::string::npos) continue;  // of classes, which this worker does not have
    const Rows& rows = files.at(request.at("file"));
    const Source source(rows, request.at("seed"), {request.at("first"), request.at("pick") == "random"});
    const Template parsed(text, rows.columns());
    for (std::size_t i = 0; i < request.at("numbers").size(); i++, filled++) {
      std::string got;
      parsed.append(got, source, source.of(request.at("numbers")[i]));
      EXPECT_EQ(got, request.at("texts")[i].get<std::string>()) << text;
    }
  }
  EXPECT_GE(filled, 30);
  for (const auto& refused : vectors.at("refused"))
    EXPECT_THROW(Template(refused.at("template").get<std::string>(), refused.at("columns")),
                 contract::Failure)
        << refused;
}

TEST(Rows, ThatAreDamagedAreRefused) {
  const auto vectors = netdyno::test::vectors("data.json");
  ASSERT_GE(vectors.at("damaged").size(), 12U);
  for (const auto& damaged : vectors.at("damaged")) {
    const File file(damaged.at("hex"));
    EXPECT_THROW(Rows rows(file.name()), contract::Failure) << damaged.at("name");
  }
  EXPECT_THROW(Rows rows("/nowhere/rows"), contract::Failure);
}

TEST(Templates, OfLiteralTextsSayThem) {
  std::string got;
  const File file(netdyno::test::vectors("data.json").at("files").at("none").at("hex"));
  const Rows rows(file.name());
  const Source source(rows, 1, {0, false});
  Template(literal("a{b}{{c"), 0).append(got, source, source.of(0));
  EXPECT_EQ(got, "a{b}{{c");
}

}  // namespace
}  // namespace netdyno::http1
