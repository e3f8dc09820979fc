// When the exchanges of an open loop were actually sent.
//
// Layer: below tally, above contract. The twin of internal/work/load/arrival.go.
// A lane's loop alone records; the control thread sets the stretch once, and
// reads the instants only after the loop has ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "kit/contract.h"

namespace netdyno {

/// The sends of one lane in the first stretch of the window, in the order in
/// which their exchanges completed.
class Sends {
 public:
  /// Makes room for what a share of rate, in exchanges per second, is expected
  /// to send in the stretch.
  Sends(double rate, double share);

  /// How long sends are kept at a rate, in ns: as long as the expected number
  /// stays below 2^17, and 30 s at most, so that a client keeps about 1 MiB.
  static std::int64_t stretch(double rate);

  /// Keeps those sent from now on, until the end. Only the first call counts.
  void open(std::int64_t from, std::int64_t until);

  /// A completed exchange was sent at this instant. Does not allocate.
  void record(std::int64_t sent) {
    if (sent < from_.load(std::memory_order_relaxed) || sent >= until_.load(std::memory_order_relaxed))
      return;
    if (at_.size() < at_.capacity()) {
      at_.push_back(sent);
    } else if (sent < refused_) {
      refused_ = sent;
    }
  }

  /// Everything sent before this instant was kept: the stretch's end, or the
  /// earliest send that found no room.
  std::int64_t whole_until() const;
  const std::vector<std::int64_t>& instants() const { return at_; }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::atomic<std::int64_t> from_{kNever};
  std::atomic<std::int64_t> until_{kNever};
  std::int64_t refused_ = kNever;
  std::vector<std::int64_t> at_;
};

/// Sums up the gaps between those of the instants, which it sorts, that lie in
/// [from, until); none when fewer than two do.
std::optional<contract::Arrivals> gaps_of(std::span<std::int64_t> sent, std::int64_t from,
                                          std::int64_t until);

}  // namespace netdyno
