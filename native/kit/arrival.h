// When the exchanges of an open loop were actually sent.
//
// Layer: below counters, above contract. Go counterpart: internal/work/load/arrival.go.
// Only a shard's loop records. The control thread sets the stretch once, and reads the
// instants after the loop has ended.
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

/// The sends of one shard in the first stretch of the window, in the order in which
/// their exchanges completed.
class Sends {
 public:
  /// Allocates for what share of rate, in exchanges per second, should send in the
  /// stretch.
  Sends(double rate, double share);

  /// How long sends are kept at a rate, in ns: at most 30 s and 2^17 expected sends, so
  /// that a client keeps about 1 MiB.
  static std::int64_t stretch(double rate);

  /// Keeps the sends in [from, until). Only the first call has an effect.
  void open(std::int64_t from, std::int64_t until);

  /// Records when a completed exchange was sent. Does not allocate.
  void record(std::int64_t sent) {
    if (sent < from_.load(std::memory_order_relaxed) || sent >= until_.load(std::memory_order_relaxed))
      return;
    if (at_.size() < at_.capacity()) {
      at_.push_back(sent);
    } else if (sent < refused_) {
      refused_ = sent;
    }
  }

  /// Every send before this instant was kept: the stretch's end, or the earliest send
  /// that no longer fitted.
  std::int64_t whole_until() const;
  const std::vector<std::int64_t>& instants() const { return at_; }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::atomic<std::int64_t> from_{kNever};
  std::atomic<std::int64_t> until_{kNever};
  std::int64_t refused_ = kNever;
  std::vector<std::int64_t> at_;
};

/// Sums up the gaps between the instants in [from, until), and sorts sent. Nothing when
/// fewer than two lie there.
std::optional<contract::Arrivals> gaps_of(std::span<std::int64_t> sent, std::int64_t from,
                                          std::int64_t until);

}  // namespace netdyno
