// Classes of a load, held to the vectors that Go runs.
#include <gtest/gtest.h>

#include "kit/json.h"
#include "kit/load.h"
#include "vectors.h"

namespace netdyno {
namespace {

using contract::Json;

contract::Setup mixing(const Json& load, std::uint64_t seed = 0) {
  return contract::parse_setup({{"role", "client"},
                                {"seed", seed},
                                {"exchange", {{"up_bytes", 1024}, {"down_bytes", 1 << 20}}},
                                {"load", load}});
}

TEST(Mix, DrawsClassesAndKeysAsTheVectorsSay) {
  const Json vectors = test::vectors("mix.json");
  ASSERT_GE(vectors.at("draws").size(), 20U);
  for (const Json& draw : vectors.at("draws")) {
    const Mix mix(mixing(vectors.at("load"), draw.at("seed")));
    EXPECT_EQ(mix.class_of(draw.at("number")), draw.at("class")) << draw;
    EXPECT_EQ(mix.key_of(draw.at("number")), draw.at("key")) << draw;
  }
}

/// Sizes that classes draw are none of this kit's: find_transport says so.
TEST(Mix, RefusesWhatTheVectorsRefuse) {
  const Json vectors = test::vectors("mix.json");
  for (const Json& refused : vectors.at("refused")) {
    contract::Setup setup;
    try {
      setup = mixing(refused.at("load"));
      setup.load.connections = 1;
      Load load(setup, 1);
    } catch (const contract::Failure& failure) {
      EXPECT_EQ(failure.kind(), contract::ErrorKind::setup) << refused.at("name");
      continue;
    }
    EXPECT_FALSE(setup.beyond.empty()) << refused.at("name") << " is taken";
  }
}

TEST(Mix, ExchangesAreCountedInTheirClasses) {
  contract::Setup setup;
  setup.seed = 7;
  setup.exchange = {40, 4000, ""};
  setup.load.connections = 2;
  setup.load.classes = {{"small", contract::kTableEnd / 2, 10, 100},
                        {"large", contract::kTableEnd, 40, 4000}};
  setup.load.classes[1].deadline_ns = 5;
  const Mix mix(setup);
  Load load(setup, 2);
  load.start(1'000);
  load.open(1'000);
  std::array<contract::ClassResult, 2> want;
  std::int64_t due = 0;
  for (std::uint64_t n = 0; n < 400; n++) {
    Slot& slot = load.slots(static_cast<std::int64_t>(n % 2))[0];
    ASSERT_TRUE(slot.next(2'000, due));
    ASSERT_EQ(slot.number(), n);
    ASSERT_EQ(slot.kind(), mix.class_of(n));
    contract::ClassResult& to = want.at(slot.kind());
    const contract::Class& of = setup.load.classes[slot.kind()];
    if (n % 10 == 9) {
      slot.fail(contract::ErrorKind::timeout, 2'050);
      to.errors++;
      to.late++;
      continue;
    }
    slot.done(2'000, 2'000 + of.down_bytes, of.down_bytes);
    to.exchanges++;
    to.sent_bytes += of.up_bytes;
    to.received_bytes += of.down_bytes;
  }
  ASSERT_TRUE(load.slots(0)[0].next(2'100, due));
  want.at(load.slots(0)[0].kind()).unfinished++;
  const contract::Result result = load.result(3'000);
  ASSERT_EQ(result.classes.size(), want.size());
  std::int64_t sent = 0;
  for (std::size_t i = 0; i < want.size(); i++) {
    const contract::ClassResult& got = result.classes[i];
    EXPECT_EQ(got.name, setup.load.classes[i].name);
    EXPECT_GT(got.exchanges, 100);
    EXPECT_EQ(got.exchanges, want[i].exchanges);
    EXPECT_EQ(got.sent_bytes, want[i].sent_bytes);
    EXPECT_EQ(got.received_bytes, want[i].received_bytes);
    EXPECT_EQ(got.errors, want[i].errors);
    EXPECT_EQ(got.late, want[i].late);
    EXPECT_EQ(got.unfinished, want[i].unfinished);
    Histogram times;
    times.record(setup.load.classes[i].down_bytes, got.exchanges);
    EXPECT_EQ(got.service, times.encode());
    sent += got.sent_bytes;
  }
  EXPECT_EQ(result.counts.sent_bytes, sent);
}

}  // namespace
}  // namespace netdyno
