// How much work fell inside the window, exchanges that span an edge counted by the
// share of their time in it.
//
// Layer: below counters, above contract. Go counterpart: internal/work/load/inside.go.
// Only a shard's loop adds. The control thread sets the window before the shard enters
// the phase, and reads the sums after the loop has ended.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kit/sum.h"

namespace netdyno {

/// A stretch of time, in ns of now_ns.
struct Span {
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t to = std::numeric_limits<std::int64_t>::max();

  /// The share of [begin, end] that lies in the span, 0 to 1. What begins and ends at
  /// one instant lies in it or does not.
  double share(std::int64_t begin, std::int64_t end) const {
    if (end <= begin) return end >= from && end <= to ? 1 : 0;
    const auto inside = static_cast<double>(std::min(end, to) - std::max(begin, from));
    return std::max(0.0, inside / static_cast<double>(end - begin));
  }
};

/// Corrects one shard's whole exchanges of a phase by those that span an edge of the
/// window. Sums are of kWhole, so that they are integers.
class Parts {
 public:
  static constexpr std::int64_t kWhole = 1'000'000'000;

  /// inside is the window as far as it is known. counted says whether the phase counts
  /// an exchange as one, or as none.
  void enter(Span inside, bool counted) {
    inside_ = inside;
    counted_ = counted ? kWhole : 0;
  }

  /// Notes an exchange: when its slot became free for it, when it was sent and when it
  /// completed.
  void add(std::int64_t free, std::int64_t sent, std::int64_t now) {
    idle_ns_.add(sent - free);
    if (counted_ != 0 && free >= inside_.from) return;
    exchanges_.add(std::llround(kWhole * inside_.share(sent, now)) - counted_);
    cycles_.add(std::llround(kWhole * inside_.share(free, now)) - counted_);
  }

  double exchanges() const { return static_cast<double>(exchanges_.get()) / kWhole; }
  double cycles() const { return static_cast<double>(cycles_.get()) / kWhole; }
  std::int64_t idle_ns() const { return idle_ns_.get(); }

 private:
  Span inside_;
  std::int64_t counted_ = 0;
  Sum exchanges_;
  Sum cycles_;
  Sum idle_ns_;
};

}  // namespace netdyno
