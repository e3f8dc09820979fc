#include "kit/counters.h"

#include <utility>

namespace netdyno {

namespace {

constexpr double kStretchMostNs = 30e9;
constexpr double kStretchSends = 1 << 17;
/// More than the expected number: for a schedule's scatter and a warm-up's backlog.
constexpr double kHeadroom = 1.25;
/// The least that a shard keeps.
constexpr std::size_t kLeast = 64;

}  // namespace

Sends::Sends(double rate, double share) {
  const double expected = static_cast<double>(stretch(rate)) / 1e9 * rate * share;
  at_.reserve(static_cast<std::size_t>(expected * kHeadroom) + kLeast);
}

std::int64_t Sends::stretch(double rate) {
  return static_cast<std::int64_t>(std::min(kStretchSends / rate * 1e9, kStretchMostNs));
}

void Sends::open(std::int64_t from, std::int64_t until) {
  if (from_ != kNever) return;
  until_ = until;
  from_ = from;
}

std::int64_t Sends::whole_until() const { return std::min(refused_, until_.load(std::memory_order_relaxed)); }

std::optional<contract::Arrivals> gaps_of(std::span<std::int64_t> sent, std::int64_t from,
                                          std::int64_t until) {
  std::ranges::sort(sent);
  const auto first = std::ranges::lower_bound(sent, from);
  const auto end = std::ranges::lower_bound(sent, until);
  if (end - first < 2) return std::nullopt;
  contract::Arrivals sums{.gaps = end - first - 1,
                          .sum_ns = *(end - 1) - *first,
                          .sum_squares_ns2 = 0,
                          .stretch_ns = until - from};
  for (auto next = first + 1; next != end; ++next) {
    const auto gap = static_cast<double>(*next - *(next - 1));
    sums.sum_squares_ns2 += gap * gap;
  }
  return sums;
}

namespace {

/// How many values must lie beyond a percentile for it to be told (specification §3.2).
constexpr double kTailMin = 10;
/// How far from a whole number a product may lie that is whole but for its last bits.
constexpr double kAlmostWhole = 1e-9;

/// The highest value that counts at a position.
std::int64_t highest_at(std::size_t index) { return Histogram::value_at(index + 1) - 1; }

}  // namespace

Slicer::Slicer() : before_(Histogram::positions()) {}

std::optional<contract::TickTimes> Slicer::next(const std::vector<const Histogram*>& histograms) {
  struct Step {
    std::size_t index;
    std::int64_t count;
  };
  std::vector<Step> steps;
  contract::TickTimes times;
  for (std::size_t i = 0; i < before_.size(); i++) {
    std::int64_t sum = 0;
    for (const Histogram* h : histograms) sum += h->counted(i);
    if (const std::int64_t more = sum - std::exchange(before_[i], sum); more > 0) {
      steps.push_back({i, more});
      times.count += more;
    }
  }
  if (steps.empty()) return std::nullopt;
  times.max_ns = highest_at(steps.back().index);
  for (const auto& [share, ns] : {std::pair{0.5, &times.p50_ns}, {0.99, &times.p99_ns}}) {
    const auto count = static_cast<double>(times.count);
    if (count < std::ceil(kTailMin / (1 - share) - kAlmostWhole)) break;
    double left = std::ceil(share * count - kAlmostWhole);
    for (const Step& step : steps) {
      left -= static_cast<double>(step.count);
      if (left > 0) continue;
      *ns = highest_at(step.index);
      break;
    }
  }
  return times;
}

}  // namespace netdyno
