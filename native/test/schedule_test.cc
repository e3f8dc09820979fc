#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kit/load.h"

namespace netdyno {
namespace {

contract::Load open_load(contract::Arrival arrival, double rate) {
  contract::Load load;
  load.rate = rate;
  load.arrival = arrival;
  return load;
}

/// All intended starts before end_ns, over all slots, in order.
std::vector<std::int64_t> starts(const contract::Load& load, std::int64_t slots, std::int64_t end_ns,
                                 std::uint64_t seed = 1) {
  std::vector<std::int64_t> all;
  for (std::int64_t slot = 0; slot < slots; slot++) {
    for (Schedule s(load, seed, {slot, slots}); s.peek() < end_ns; s.advance()) all.push_back(s.peek());
  }
  std::sort(all.begin(), all.end());
  return all;
}

struct Gaps {
  double mean;
  double cv;
};

Gaps gaps(const std::vector<std::int64_t>& at) {
  double sum = 0;
  double squares = 0;
  const auto n = static_cast<double>(at.size() - 1);
  for (std::size_t i = 1; i < at.size(); i++) {
    const auto gap = static_cast<double>(at[i] - at[i - 1]);
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean) / mean};
}

TEST(Schedule, ConstantSlotsKeepOneEvenRhythm) {
  for (const std::int64_t slots : {1, 7, 50}) {
    const auto at = starts(open_load(contract::Arrival::constant, 10'000), slots, 1'000'000'000);
    ASSERT_EQ(at.size(), 10'000U) << slots;
    for (std::size_t i = 0; i < at.size(); i++) {
      const double exact = (static_cast<double>(i) + 0.5) * 1e5;
      ASSERT_NEAR(static_cast<double>(at[i]), exact, 2) << slots << " slots, start " << i;
    }
  }
}

TEST(Schedule, ConstantDoesNotDrift) {
  Schedule s(open_load(contract::Arrival::constant, 3), 1, {0, 1});
  for (int i = 0; i < 3'000'000; i++) s.advance();
  EXPECT_NEAR(static_cast<double>(s.peek()), (3e6 + 0.5) / 3 * 1e9, 1e3);  // 11 days on: within a microsecond
}

TEST(Schedule, PoissonHasTheRateAndTheSpread) {
  const double rate = 100'000;
  const auto at = starts(open_load(contract::Arrival::poisson, rate), 40, 2'000'000'000);
  const Gaps g = gaps(at);
  // 200,000 gaps: the mean's standard error is 0.22 %, the CV's about 0.25 %.
  EXPECT_NEAR(g.mean * rate / 1e9, 1, 0.012);
  EXPECT_NEAR(g.cv, 1, 0.012);
}

TEST(Schedule, PoissonSlotsAreIndependent) {
  const auto load = open_load(contract::Arrival::poisson, 1'000);
  // Counts per 10 ms of two neighbouring slots, each at 500/s.
  std::vector<double> a(2000);
  std::vector<double> b(2000);
  for (auto [slot, counts] : {std::pair<std::int64_t, std::vector<double>*>{0, &a}, {1, &b}}) {
    for (Schedule s(load, 9, {slot, 2}); s.peek() < 20'000'000'000; s.advance()) {
      (*counts)[static_cast<std::size_t>(s.peek() / 10'000'000)]++;
    }
  }
  double product = 0;
  for (std::size_t i = 0; i < a.size(); i++) product += (a[i] - 5) * (b[i] - 5);
  // Of variance 5 each: the correlation's standard error is 1/√2000 = 2.2 %.
  EXPECT_NEAR(product / static_cast<double>(a.size()) / 5, 0, 0.1);
}

TEST(Schedule, PoissonIsTheSeeds) {
  const auto load = open_load(contract::Arrival::poisson, 1'000);
  EXPECT_EQ(starts(load, 3, 1'000'000'000, 7), starts(load, 3, 1'000'000'000, 7));
  EXPECT_NE(starts(load, 3, 1'000'000'000, 7), starts(load, 3, 1'000'000'000, 8));
}

}  // namespace
}  // namespace netdyno
