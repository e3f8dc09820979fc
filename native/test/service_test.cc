// What a server's work is drawn by, by the vectors that Go runs.
#include "kit/service.h"

#include <gtest/gtest.h>

#include <string>

#include "kit/json.h"
#include "vectors.h"

namespace netdyno {
namespace {

using contract::Json;
using contract::Table;

/// A table of contract/vectors, written out or by its rule.
Table table_of(const Json& said) {
  Table table;
  if (said.is_array()) {
    for (const Json& s : said) table.push_back({s.at(0), s.at(1), s.at(2)});
    return table;
  }
  const std::int64_t many = said.at("many");
  const std::int64_t end = said.at("step_end");
  const std::int64_t step = said.at("step");
  for (std::int64_t i = 0; i < many; i++) table.push_back({(i + 1) * end, i * step, i * step + step - 1});
  return table;
}

TEST(Draw, StreamsAreThoseOfTheVectors) {
  const Json streams = test::vectors("sizes.json").at("streams");
  EXPECT_GE(streams.size(), 16U);
  for (const Json& v : streams) {
    const std::uint64_t begin = output_at(v.at("seed"), v.at("stream").get<std::uint64_t>() - 1);
    for (std::size_t n = 0; n < v.at("outputs").size(); n++) {
      EXPECT_EQ(output_at(begin, n), std::stoull(v.at("outputs")[n].get<std::string>(), nullptr, 16)) << v;
    }
  }
}

TEST(Draw, NumbersAreThoseOfTheVectors) {
  const Json vectors = test::vectors("sizes.json");
  std::size_t draws = 0;
  for (const Json& v : vectors.at("draws")) {
    const Table table = table_of(vectors.at("tables").at(v.at("name").get<std::string>()));
    ASSERT_EQ(contract::wrong_table(table, contract::kMaxFlowMessage), "") << v.at("name");
    for (const auto& [stream, key] : {std::pair{1, "up_bytes"}, {2, "down_bytes"}}) {
      const Drawer drawer(table, v.at("seed"), static_cast<std::uint64_t>(stream));
      for (std::size_t i = 0; i < v.at("numbers").size(); i++, draws++)
        EXPECT_EQ(drawer.draw(v.at("numbers")[i]), v.at(key)[i].get<std::int64_t>()) << v.at("name") << i;
    }
  }
  EXPECT_GE(draws, 150U);
}

TEST(Draw, RefusesWhatTheVectorsRefuse) {
  const Json refused = test::vectors("sizes.json").at("refused");
  EXPECT_GE(refused.size(), 9U);
  for (const Json& v : refused) {
    const Table table = table_of(v.contains("many") ? v.at("many") : v.at("table"));
    EXPECT_NE(contract::wrong_table(table, contract::kMaxFlowMessage), "") << v.at("name");
  }
}

}  // namespace
}  // namespace netdyno
