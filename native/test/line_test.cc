#include "kit/line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "test/vectors.h"

namespace netdyno::contract {
namespace {

/// A pipe whose far end is fed by a thread, so that long lines do not block.
class Feed {
 public:
  explicit Feed(std::string bytes) {
    EXPECT_EQ(pipe(ends_), 0);
    writer_ = std::thread([this, bytes = std::move(bytes)] {
      std::size_t written = 0;
      while (written < bytes.size()) {
        const ssize_t n = write(ends_[1], bytes.data() + written, bytes.size() - written);
        if (n <= 0) break;
        written += static_cast<std::size_t>(n);
      }
      close(ends_[1]);
    });
  }
  ~Feed() {
    writer_.join();
    close(ends_[0]);
  }
  int fd() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
  std::thread writer_;
};

/// The name of the message on a line, or "refused: REASON".
std::string read_one(LineReader& reader) {
  try {
    const auto line = reader.read();
    if (!line) return "end";
    const Message message = parse(*line);
    if (message.name == "setup") parse_setup(message.body);
    if (message.name == "mark") parse_mark(message.body);
    return message.name;
  } catch (const LineError& error) {
    return "refused: " + error.reason();
  } catch (const Failure& failure) {
    // A level that does not exist fails the setup; the line itself is good.
    if (failure.kind() != ErrorKind::invalid) return "setup";
    return std::string("refused: ") + failure.what();
  }
}

TEST(Line, VectorsAreAcceptedAndRefused) {
  for (const auto& vector : test::vectors("lines.json")) {
    if (vector.at("to") != "worker") continue;
    std::string line = vector.value("line", "");
    for (const auto& part : vector.value("parts", Json::array())) line += test::expand(part);
    if (!vector.value("torn", false)) line += "\n";
    const Feed feed(line);
    LineReader reader(feed.fd());
    const std::string got = read_one(reader);
    if (vector.contains("message")) {
      EXPECT_EQ(got, vector.at("message").get<std::string>()) << vector.at("name");
    } else {
      EXPECT_TRUE(got.starts_with("refused: ")) << vector.at("name") << ": " << got;
    }
    EXPECT_EQ(read_one(reader), "end") << vector.at("name");
  }
}

TEST(Line, ReadingGoesOnAfterALineThatIsTooLong) {
  const Feed feed(std::string(3 * kMaxLine, 'x') + "\n{\"stop\":{}}\n");
  LineReader reader(feed.fd());
  EXPECT_EQ(read_one(reader), "refused: longer than 1048576 bytes");
  EXPECT_EQ(read_one(reader), "stop");
  EXPECT_EQ(read_one(reader), "end");
}

TEST(Line, ErrorsTeach) {
  try {
    parse("{\"strat\":{}}");
    FAIL() << "accepted";
  } catch (const LineError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("did you mean \"start\"?"), std::string::npos) << text;
    EXPECT_NE(text.find("{\\\"strat\\\":{}}"), std::string::npos) << text;
    EXPECT_NE(text.find("CONTRACT.md, section Lines"), std::string::npos) << text;
  }
}

TEST(Line, BytesThatAreNotTextAreRefusedReadably) {
  try {
    parse("\xff\xfe\x01 binary");
    FAIL() << "accepted";
  } catch (const LineError& error) {
    EXPECT_NO_THROW(Json(error.what()).dump()) << "the error itself is UTF-8";
  }
}

TEST(Nearest, FindsTyposAndNothingElse) {
  const std::vector<std::string> names = {"read_buffer", "listener"};
  EXPECT_EQ(nearest("read_bufer", names), "read_buffer");
  EXPECT_EQ(nearest("lisener", names), "listener");
  EXPECT_EQ(nearest("colour", names), "");
  EXPECT_EQ(nearest(std::string(5000, 'x'), names), "");
}

}  // namespace
}  // namespace netdyno::contract
