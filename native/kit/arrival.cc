#include "kit/arrival.h"

#include <algorithm>

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

}  // namespace netdyno
