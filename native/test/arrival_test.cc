#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kit/counters.h"
#include "kit/json.h"
#include "kit/load.h"
#include "test/vectors.h"

namespace netdyno {

using contract::Arrivals;

namespace {

/// Two slots, one on each of two shards, at a rate.
contract::Setup offering(double rate) {
  contract::Setup setup;
  setup.exchange = {64, 64, ""};
  setup.load.connections = 2;
  setup.load.rate = rate;
  return setup;
}

void exchange(Slot& slot, std::int64_t sent, std::int64_t done) {
  std::int64_t due = 0;
  ASSERT_TRUE(slot.next(sent, due));
  slot.done(sent, done, 64);
}

void expect_equal(const std::optional<Arrivals>& got, const Arrivals& want, const std::string& name) {
  ASSERT_TRUE(got) << name;
  EXPECT_EQ(got->gaps, want.gaps) << name;
  EXPECT_EQ(got->sum_ns, want.sum_ns) << name;
  EXPECT_NEAR(got->sum_squares_ns2, want.sum_squares_ns2, 1e-12 * want.sum_squares_ns2) << name;
  EXPECT_EQ(got->stretch_ns, want.stretch_ns) << name;
}

TEST(LoadArrivals, AreThoseOfTheVectors) {
  const auto vectors = test::vectors("arrivals.json");
  ASSERT_GE(vectors.size(), 7U);
  for (const auto& vector : vectors) {
    const std::string name = vector.at("name");
    auto sent = vector.at("sent").get<std::vector<std::int64_t>>();
    const auto got = gaps_of(sent, vector.at("from_ns"), vector.at("until_ns"));
    const auto& want = vector.at("arrivals");
    if (want.is_null()) {
      EXPECT_FALSE(got) << name;
      continue;
    }
    expect_equal(got, {want.at("gaps"), want.at("sum_ns"), want.at("sum_squares_ns2"), want.at("stretch_ns")},
                 name);
  }
}

TEST(LoadArrivals, AreTheClientsOverAllItsLanes) {
  Load load(offering(1'000), 2);
  load.start(-1'000'000'000);
  load.open(0);
  for (std::int64_t k = 1; k <= 60; k++) {
    exchange(load.slots(k % 2)[0], 1'000'000 * k, 1'000'000 * k + 7'000'000 * (k % 5));  // answers overtake
  }
  load.end(1'000'000'000);
  expect_equal(load.result(1'000'000'000).arrivals, {59, 59'000'000, 59e12, 1'000'000'000}, "even");
}

TEST(LoadArrivals, EndAtTheWindowsEdges) {
  Load load(offering(1'000), 2);
  load.start(-1'000'000'000);
  load.open(0);
  Slot& slot = load.slots(0)[0];
  Slot& late = load.slots(1)[0];
  exchange(slot, -5, 10);  // sent in the warm-up
  exchange(slot, 0, 10);
  exchange(slot, 40, 50);
  std::int64_t due = 0;
  ASSERT_TRUE(late.next(60, due));
  load.end(100);
  late.done(60, 500, 64);    // in the window, and drained
  exchange(slot, 100, 200);  // backlog
  expect_equal(load.result(600).arrivals, {2, 60, 40.0 * 40 + 20 * 20, 100}, "edges");
}

// A shard that is full ends the stretch for the client where its first refused
// send lies.
TEST(LoadArrivals, EndWhereALaneHasNoRoom) {
  Load load(offering(0.001), 2);
  load.start(-1'000'000'000'000'000);
  load.open(0);
  Slot& full = load.slots(0)[0];
  std::int64_t capacity = 64;
  for (std::int64_t k = 0; k < capacity - 1; k++) exchange(full, 10 * k, 10 * k);
  exchange(full, 10 * (capacity + 2), 10 * capacity);  // takes the last place…
  exchange(full, 10 * (capacity + 1), 10 * capacity);  // …and these find none
  exchange(full, 10 * capacity, 10 * capacity);
  exchange(full, 10 * (capacity + 3), 10 * capacity);
  exchange(load.slots(1)[0], 10 * (capacity + 1) + 5, 10 * capacity);
  load.end(1'000'000'000);
  expect_equal(load.result(1'000'000'000).arrivals,
               {capacity - 2, 10 * (capacity - 2), 100.0 * static_cast<double>(capacity - 2), 10 * capacity},
               "full");
}

TEST(LoadArrivals, AreKeptForABoundedStretch) {
  for (const double rate : {0.001, 200.0, 1e5, 1e9}) {
    const auto stretch = static_cast<double>(Sends::stretch(rate));
    EXPECT_LE(stretch, 30e9) << rate;
    EXPECT_LE(stretch / 1e9 * rate, 1 << 17) << rate;
    EXPECT_LE(Sends(rate, 1).instants().capacity(), (std::size_t{1} << 17) * 5 / 4 + 64) << rate;
  }
}

TEST(LoadArrivals, AClosedLoopHasNone) {
  Load load(offering(0), 1);
  load.start(1);
  load.open(1);
  for (std::int64_t now = 2; now < 10; now++) exchange(load.slots(0)[0], now, now);
  EXPECT_FALSE(load.result(20).arrivals);
}

TEST(LoadArrivals, TravelInTheResult) {
  contract::Result result;
  EXPECT_FALSE(contract::message(result).at("result").contains("arrivals"));
  result.arrivals = Arrivals{2, 60, 2'000.5, 100};
  const contract::Json want = {
      {"gaps", 2}, {"sum_ns", 60}, {"sum_squares_ns2", 2'000.5}, {"stretch_ns", 100}};
  EXPECT_EQ(contract::message(result).at("result").at("arrivals"), want);
}

}  // namespace
}  // namespace netdyno
