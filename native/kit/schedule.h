// The intended starts of one slot in an open loop.
//
// Layer: load. A schedule never looks at completions, so it exists before
// anything is sent. One thread uses it. The twin of internal/work/load/schedule.go.
#pragma once

#include <cmath>
#include <cstdint>

#include "kit/contract.h"

namespace netdyno {

/// Where a slot's schedule lies among the others: its place, of how many.
struct Place {
  std::int64_t slot = 0;
  std::int64_t slots = 1;
};

class Schedule {
 public:
  Schedule() = default;

  /// Spreads load.rate (exchanges/s over all slots, > 0) evenly. Constant
  /// arrivals are staggered so that the slots together keep one even rhythm;
  /// Poisson arrivals are independent, drawn from (seed, slot), and their
  /// superposition is Poisson at the whole rate.
  Schedule(const contract::Load& load, std::uint64_t seed, Place place);

  /// The next intended start, in ns after the load's start.
  std::int64_t peek() const { return static_cast<std::int64_t>(at_); }

  /// Moves on to the start after that.
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
