#include "kit/slicer.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace netdyno {
namespace {

/// How many values must lie beyond a percentile for it to be told (specification §3.2).
constexpr double kTailMin = 10;
/// How far from a whole number a product may lie that is whole but for its last bits.
constexpr double kAlmostWhole = 1e-9;

/// The highest value that counts at a position.
std::int64_t highest_at(std::size_t index) { return Histogram::value_at(index + 1) - 1; }

}  // namespace

Slicer::Slicer(std::vector<const Histogram*> histograms)
    : histograms_(std::move(histograms)), before_(Histogram::positions()) {}

std::optional<contract::TickTimes> Slicer::next() {
  struct Step {
    std::size_t index;
    std::int64_t count;
  };
  std::vector<Step> steps;
  contract::TickTimes times;
  for (std::size_t i = 0; i < before_.size(); i++) {
    std::int64_t sum = 0;
    for (const Histogram* h : histograms_) sum += h->counted(i);
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
