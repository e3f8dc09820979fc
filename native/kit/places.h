// When an open loop's exchanges are due, where their gaps are drawn or the rate changes
// (contract/DRAWS.md). A place is a number of exchanges.
//
// Layer: above draw. Immutable after construction: any thread may use it.
// Go counterpart: internal/draw/schedule.go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kit/contract.h"

namespace netdyno {

/// When an exchange is due that no phase has room for, in ns.
inline constexpr std::int64_t kNeverDue = INT64_MAX / 4;

/// Turns places into times by the phases of a rate that changes.
class Warp {
 public:
  /// phases are some that wrong_phases finds nothing wrong with.
  Warp(const std::vector<contract::Phase>& phases, bool repeat);

  /// When the place is reached, in ns after the start.
  std::int64_t due_ns(double place) const;
  /// How many exchanges the rates make until an instant, in ns after the start.
  double place(double ns) const;

 private:
  struct Phase {
    double from;  // ns
    double lasts;
    double before;  // exchanges
    double holds;
    double first;  // rates
    double last;
  };
  const Phase& find(double place) const;

  std::vector<Phase> phases_;
  std::size_t last_ = 0;  // the last phase that holds any exchanges
  bool repeat_;
  double all_ = 0;    // exchanges of all phases
  double lasts_ = 0;  // ns of all phases
};

/// The places of drawn arrivals.
class Cycle {
 public:
  /// After how many gaps they come again.
  static constexpr std::uint64_t kGaps = 1 << 16;
  /// The mean gap in the unit of a table of gaps, and the longest gap.
  static constexpr std::int64_t kUnit = 1 << 20;
  static constexpr std::int64_t kMostGap = 1000 * kUnit;

  /// Throws Failure{setup} where every gap is 0.
  Cycle(const contract::Table& gaps, std::uint64_t seed);

  /// The place of arrival number m.
  double place(std::uint64_t m) const {
    const double in_round = static_cast<double>(ends_[m % kGaps]) * scale_;
    return static_cast<double>(m / kGaps * kGaps) + in_round;
  }

 private:
  std::vector<std::int64_t> ends_;  // sums of the gaps
  double scale_ = 0;                // exchanges for each unit
};

/// What the schedules of all slots share, where they are not even or Poisson at one rate.
class Places {
 public:
  /// None for a load that needs none. Throws Failure{setup} that names the invalid key.
  static std::unique_ptr<const Places> of(const contract::Load& load, std::uint64_t seed);

  /// When a place of constant or Poisson arrivals, or drawn arrival number place, is due.
  std::int64_t due_ns(double place) const;
  /// The expected number of exchanges due from one instant to another, in ns after the start.
  double expected(double from_ns, double to_ns) const;
  /// Whether the rate changes.
  bool changes() const { return warp_.has_value(); }

 private:
  double rate_ = 0;
  std::optional<Cycle> cycle_;
  std::optional<Warp> warp_;
};

}  // namespace netdyno
