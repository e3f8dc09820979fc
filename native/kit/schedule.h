// The intended starts of one slot in an open loop.
//
// Layer: load. A schedule never looks at completions, so it is fixed before anything is
// sent. One thread uses it. Go counterpart: internal/work/load/schedule.go.
#pragma once

#include <cmath>
#include <cstdint>

#include "kit/contract.h"

namespace netdyno {

/// A slot's number among all slots.
struct SlotPosition {
  std::int64_t slot = 0;
  std::int64_t slots = 1;
};

class Schedule {
 public:
  Schedule() = default;

  /// Spreads load.rate (exchanges/s over all slots, > 0) evenly. Constant arrivals are
  /// staggered, so that all slots together keep one even rhythm. Poisson arrivals are
  /// independent and drawn from (seed, slot); together they are Poisson at the whole
  /// rate.
  Schedule(const contract::Load& load, std::uint64_t seed, SlotPosition position);

  /// The next intended start, in ns after the load's start.
  std::int64_t peek() const { return static_cast<std::int64_t>(at_); }

  /// Goes on to the start after that.
  void advance() {
    if (poisson_) {
      at_ += exponential() * step_;
    } else {
      k_++;
      at_ = first_ + k_ * step_;  // not a running sum: no drift
    }
  }

 private:
  /// A standard exponential variate by inversion. log1p(-u) of u in [0, 1) is finite.
  double exponential() { return -std::log1p(-static_cast<double>(draw() >> 11) * 0x1p-53); }
  std::uint64_t draw();

  bool poisson_ = false;
  double first_ = 0;
  double step_ = 0;  // mean ns between starts
  double k_ = 0;
  double at_ = 0;
  std::uint64_t random_ = 0;
};

}  // namespace netdyno
