// Load decides when a client sends and counts what came of it. A transport
// pulls: it asks each of its slots for the next exchange and reports each
// completion; it never sees rates, windows or histograms.
//
//   if (slot.next(now, due)) …wait until due, send…  slot.done(sent, now, received);
//
// Layer: above contract, histogram, schedule. The twin of internal/work/load.
//
// Threads: start, open, end, counts and result belong to the worker's control
// thread; a slot to the one loop whose lane it was laid out on. Nothing on a
// slot's path locks or allocates. result may be called once the transport's
// run has returned.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kit/contract.h"
#include "kit/histogram.h"
#include "kit/schedule.h"
#include "kit/tally.h"

namespace netdyno {

class Load;

/// A place for one exchange in flight.
class Slot {
 public:
  /// When the slot's next exchange is due on the clock of now_ns, which may lie
  /// in the past. False when there is none left and the slot must be let go.
  /// Call it only with no exchange in flight.
  bool next(std::int64_t now, std::int64_t& due);

  /// The exchange in flight is complete: when it was sent, when it completed,
  /// the payload bytes that came back.
  void done(std::int64_t sent, std::int64_t now, std::int64_t received) {
    lane_->record({pending_, sent, now, received});
    ready_ = now + think_ns_;
    pending_ = kIdle;
  }

  /// The exchange in flight failed: counted by kind, in no histogram.
  void fail(contract::ErrorKind kind, std::int64_t now) {
    lane_->fail(kind);
    ready_ = now + think_ns_;
    pending_ = kIdle;
  }

 private:
  friend class Load;
  static constexpr std::int64_t kIdle = std::numeric_limits<std::int64_t>::max();

  const Load* load_ = nullptr;
  Lane* lane_ = nullptr;
  std::int64_t pending_ = kIdle;  // due of the exchange in flight
  std::int64_t left_ = kIdle;     // exchanges still to begin
  std::int64_t think_ns_ = 0;
  std::int64_t ready_ = 0;  // closed loop: earliest next start; at first an offset from the load's start
  bool open_ = false;
  bool started_ = false;
  Schedule schedule_;
};

class Load {
 public:
  /// Lays out the slots of every active connection over lanes; connection i is
  /// on lane i mod lanes. Throws Failure{setup} that names the key of
  /// setup.load that cannot be.
  Load(const contract::Setup& setup, int lanes);

  const contract::Load& plan() const { return plan_; }
  int lanes() const { return static_cast<int>(lanes_.size()); }
  /// How many connections, the first ones, carry load.
  std::int64_t active_connections() const { return active_; }
  /// Tells what the message up weighs where a codec decides that. Before start.
  void encoded(std::int64_t up_bytes) { up_bytes_ = up_bytes; }
  /// The slots of one connection; none when it is idle.
  std::span<Slot> slots(std::int64_t connection);

  /// Sets the instant from which schedules count. With a fixed amount and no
  /// opening mark before it, it opens the window too.
  void start(std::int64_t now);
  /// Opens the window: what completes from now on is counted in it.
  void open(std::int64_t now);
  /// Whether the window was opened. Control thread.
  bool opened() const { return open_; }
  /// Closes the window and ends the load: exchanges due later are not sent,
  /// completions count as drained. Only the first call has an effect.
  void end(std::int64_t now);
  /// Any thread.
  bool ended() const { return closing() != Slot::kIdle; }
  /// Exchanges due later than this are not sent. Any thread.
  std::int64_t closing() const { return close_ns_.load(std::memory_order_relaxed); }

  /// Sums since ready over all phases.
  contract::Counts counts() const;
  /// Sums since ready as they were at the window's last edge: without the phase
  /// that the edge began, so that this account and the result's differ by no
  /// more than one completion per slot, however late it is read.
  contract::Counts edge() const;
  /// The account of the window. Ends the load at now unless it has ended.
  contract::Result result(std::int64_t now);

 private:
  friend class Slot;
  void lay_out(std::uint64_t seed);
  Histogram unfinished(std::int64_t now);
  std::optional<contract::Arrivals> arrivals() const;

  contract::Load plan_;
  std::int64_t up_bytes_;
  std::int64_t active_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Slot> slots_;
  std::atomic<std::int64_t> start_ns_{0};
  std::atomic<std::int64_t> close_ns_{Slot::kIdle};
  std::int64_t from_ns_ = 0;
  bool open_ = false;
};

inline bool Slot::next(std::int64_t now, std::int64_t& due) {
  const std::int64_t closing = load_->closing();
  if (left_ == 0) return false;
  if (open_) {
    due = load_->start_ns_.load(std::memory_order_relaxed) + schedule_.peek();
  } else if (think_ns_ > 0) {
    if (!started_) ready_ += load_->start_ns_.load(std::memory_order_relaxed);
    started_ = true;
    due = ready_;
  } else {
    due = now;
  }
  // An open loop still sends what fell due before the end: a stall at the end
  // of the window must not vanish. A closed loop would start afresh.
  if (closing != kIdle && (!open_ || due > closing)) return false;
  if (open_) schedule_.advance();
  left_--;
  pending_ = due;
  return true;
}

}  // namespace netdyno
