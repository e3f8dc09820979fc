// Times of what completed lately, read from histograms that are still written to.
//
// Layer: above histogram and contract. The control thread owns a Slicer. Go
// counterpart: internal/hist/slices.go and internal/work/load/slice.go.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kit/contract.h"
#include "kit/histogram.h"

namespace netdyno {

class Slicer {
 public:
  /// The first slice begins when the histograms were made. They must outlive the
  /// Slicer. It takes 240 KB, whatever their number.
  explicit Slicer(std::vector<const Histogram*> histograms);

  /// The times that were counted since the last call; none when none were. It reads
  /// every position of every histogram: some 15 µs for each.
  std::optional<contract::TickTimes> next();

 private:
  std::vector<const Histogram*> histograms_;
  std::vector<std::int64_t> before_;  // by position, over all histograms
};

}  // namespace netdyno
