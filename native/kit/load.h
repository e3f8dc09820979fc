// Load decides when a client sends, and counts the exchanges. A transport pulls: it
// asks each of its slots for the next exchange and reports each completion. It never
// sees rates, windows or histograms.
//
//   if (slot.next(now, due)) …wait until due, send…  slot.goes_out();  slot.done(sent, now, received);
//
// Layer: above counters. Go counterpart: internal/work/load.
//
// Threads: only the worker's control thread calls start, open, end, counts and
// result. Only the loop of its shard uses a slot. Nothing on a slot's path locks or
// allocates, but that turns' dues are taken under a lock. Call result once the transport's run has
// returned.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/counters.h"
#include "kit/histogram.h"
#include "kit/mix.h"
#include "kit/turns.h"

namespace netdyno {

/// A slot's number among all slots.
struct SlotPosition {
  std::int64_t slot = 0;
  std::int64_t slots = 1;
};

/// The intended starts of one slot in an open loop. It never looks at completions, so it is
/// fixed before anything is sent. One thread uses it.
class Schedule {
 public:
  Schedule() = default;

  /// Spreads load.rate (exchanges/s over all slots, > 0) evenly. Constant arrivals are
  /// staggered, so that all slots together keep one even rhythm. Poisson arrivals are
  /// independent and drawn from (seed, slot); together they are Poisson at the whole
  /// rate. turns outlive this.
  Schedule(const contract::Load& load, std::uint64_t seed, SlotPosition position,
           const Turns* turns = nullptr);

  /// The next intended start, in ns after the load's start.
  std::int64_t peek() const { return due_; }

  /// Goes on to the start after that.
  void advance() {
    if (poisson_) {
      at_ += exponential() * step_;
    } else {
      k_++;
      at_ = first_ + k_ * step_;  // not a running sum: no drift
    }
    due_ = due();
  }

 private:
  /// A standard exponential variate by inversion. log1p(-u) of u in [0, 1) is finite.
  double exponential() { return -std::log1p(-static_cast<double>(draw() >> 11) * 0x1p-53); }
  std::uint64_t draw();
  std::int64_t due() const {
    const auto ns = static_cast<std::int64_t>(at_);
    if (turns_ != nullptr) [[unlikely]]
      return turns_->due_ns(ns);
    return ns;
  }

  const Turns* turns_ = nullptr;
  std::int64_t due_ = 0;
  bool poisson_ = false;
  double first_ = 0;
  double step_ = 0;  // mean ns between starts
  double k_ = 0;
  double at_ = 0;
  std::uint64_t random_ = 0;
};

class Load;

/// Makes one exchange at a time.
class Slot {
 public:
  /// Sets due to when the slot's next exchange is due on the clock of now_ns; this may
  /// be in the past. False when the slot has no exchange left and must be released.
  /// Call it only with no exchange in flight.
  bool next(std::int64_t now, std::int64_t& due);

  /// The request of the exchange in flight goes out, at least in part: for the first time,
  /// or once more.
  void goes_out() {
    if (out_) shard_->again.add(1);
    out_ = true;
  }

  /// The exchange in flight sends so many bytes more than setup says.
  void carries(std::int64_t more) { more_ = more; }

  /// The class of the exchange in flight, or the path that asks_for said of it; 0 for that of all.
  std::size_t kind() const { return kind_; }
  /// Its number over all slots of the client. Only where the load has classes.
  std::uint64_t number() const { return number_; }
  /// The exchange in flight asks for that one of Load::paths.
  void asks_for(std::uint32_t path) { kind_ = path; }

  /// A part of the reply in flight came at now: its body had before bytes and has that many. Where
  /// setup asks for stages, the first one is the reply's first byte. Where it asks for events, each
  /// whole Exchange::event_bytes are one, and so is a shorter last part.
  void came(std::int64_t before, std::int64_t bytes, std::int64_t now);
  /// The same, where the client tells events apart: so many ended with the part.
  void came(std::int64_t events, std::int64_t now);

  /// Whether setup asks for stages.
  bool tells_stages() const;
  /// A connection of the slot's loop was made anew within ns. Where tells_stages.
  void connected(std::int64_t ns);
  /// TLS was made on one within ns, by a session of an earlier connection or not. Where tells_stages.
  void shook_hands(std::int64_t ns, bool resumed);

  /// The exchange in flight is complete: it was sent at sent and completed at now, and
  /// received payload bytes came back.
  void done(std::int64_t sent, std::int64_t now, std::int64_t received) {
    Counters& counters = shard_->begin();
    Shard::record(counters, {free_, pending_, sent, now, received});
    if (more_ != 0) counters.more.add(more_);
    if (!counters.kinds.empty()) [[unlikely]]
      tell_kind(counters, {free_, pending_, sent, now, received});
    shard_->counted();
    free_ = now;
    pending_ = kIdle;
    out_ = false;
  }

  /// The exchange in flight failed. It counts by kind and by why, the reason, which is the
  /// kind's usual one where it is empty, and enters no histogram but, where it timed out, its age
  /// that of the late ones.
  void fail(contract::ErrorKind kind, std::int64_t now, std::string_view why = {}) {
    Counters& counters = shard_->begin();
    Shard::fail(counters, kind, why, out_);
    if (!counters.kinds.empty()) [[unlikely]]
      fail_kind(counters, kind);
    if (kind == contract::ErrorKind::timeout && counters.times != nullptr) {
      record_in(counters.times->late, age(now));
      if (waits_for_event()) record_in(counters.times->events.waiting, age(now));
      if (waits_for_byte()) record_in(counters.times->stages.waiting, age(now));
    }
    shard_->counted();
    free_ = now;
    pending_ = kIdle;
    out_ = false;
  }

 private:
  friend class Load;
  static constexpr std::int64_t kIdle = std::numeric_limits<std::int64_t>::max();

  /// Makes the next exchange one of its class.
  void begin_class();
  /// Counts the exchange in flight as one of its kind, too: complete, or failed.
  void tell_kind(Counters& counters, const Completion& c) const;
  void fail_kind(Counters& counters, contract::ErrorKind kind) const;
  /// When the exchange was due for which the slot waited at the closing; kIdle where it
  /// did not wait, but was late, had one in flight, or none left.
  std::int64_t due_after(std::int64_t closing, std::int64_t start) const;
  /// How long the exchange in flight was waited for: in a closed loop until its deadline and no
  /// longer, however late that was noticed.
  std::int64_t age(std::int64_t now) const;
  void tell_parts(std::int64_t events, std::int64_t now);
  void tell_events(std::int64_t ended, std::int64_t now);
  /// Whether the exchange has had no event, or no first byte, where they are told.
  bool waits_for_event() const;
  bool waits_for_byte() const;

  Load* load_ = nullptr;
  Shard* shard_ = nullptr;
  std::int64_t pending_ = kIdle;  // due of the exchange in flight
  std::int64_t left_ = kIdle;     // exchanges still to begin
  std::int64_t think_ns_ = 0;
  std::int64_t free_ = 0;  // when its last exchange ended; at first an offset from the load's start
  std::int64_t more_ = 0;
  std::int64_t event_ns_ = 0;  // when the last event of the exchange in flight came; 0 before the first
  std::uint64_t number_ = 0;
  std::uint32_t kind_ = 0;
  bool open_ = false;
  bool started_ = false;
  bool out_ = false;      // the request of the exchange in flight went out
  bool replied_ = false;  // something of its reply came, where stages are told
  Schedule schedule_;
};

class Load {
 public:
  /// Spreads the slots of every active connection over shards: connection i is on
  /// shard i mod shards. Throws Failure{setup} that names the invalid key of
  /// setup.load.
  Load(const contract::Setup& setup, int shards);

  const contract::Load& plan() const { return plan_; }
  int shards() const { return static_cast<int>(shards_.size()); }
  /// How many connections carry load: the first ones.
  std::int64_t active_connections() const { return active_; }
  /// Sets the sizes of the messages where a codec decides them. Call before start.
  void encoded(std::int64_t up_bytes, std::int64_t down_bytes);
  /// Exchanges are told apart by these paths, at most 64, of which each says one
  /// (Slot::asks_for). Not of a load with classes. Call before start.
  void paths(std::vector<std::string> names);
  /// The slots of one connection; none when it is idle.
  std::span<Slot> slots(std::int64_t connection);

  /// Sets the instant from which schedules count. A load of a fixed amount also opens
  /// its window here, unless a mark opened it before.
  void start(std::int64_t now);
  /// Opens the window: exchanges that complete from now on count in it.
  void open(std::int64_t now);
  /// Whether the window is open. Control thread.
  bool opened() const { return open_; }
  /// Makes room for another window, so that part need not.
  void make_room();
  /// Closes the window and opens the next at the same instant, while the load goes on. Throws
  /// Failure{invalid} where none is open.
  void part(std::int64_t now);
  /// How long after part the window that it closed is to be read, in ns.
  static constexpr std::int64_t kSettlesNs = 20'000'000;
  /// What was counted in the earliest window that part closed and that was not read yet; nothing
  /// while an exchange is being counted, which may be one of the window's.
  std::optional<contract::Result> closed_part();
  /// Closes the window and ends the load: exchanges due later are not sent, and later
  /// completions count as drained. Only the first call has an effect.
  void end(std::int64_t now);
  /// Any thread.
  bool ended() const { return closing() != Slot::kIdle; }
  /// Exchanges due later than this are not sent. Any thread.
  std::int64_t closing() const { return close_ns_.load(std::memory_order_relaxed); }

  /// Sums since ready over all phases.
  contract::Counts counts() const;
  /// Sums since ready as they were when the window last opened or closed. They leave
  /// out the phase that began then, so that they differ from the result by at most one
  /// completion per slot, however late this is called.
  contract::Counts snapshot() const;
  /// The times of what completed since the last call, in the window or draining:
  /// response times in an open loop, else service times. None when none did. Slots are
  /// not held up.
  std::optional<contract::TickTimes> slice();
  /// The requests of its exchanges. Once the transport's run has returned.
  contract::Sent sent() const;
  /// What was counted in the window. Ends the load at now unless it has ended.
  contract::Result result(std::int64_t now);

 private:
  friend class Slot;
  using Windows = std::vector<std::unique_ptr<Window>>;  // one of each shard
  /// A window that part closed.
  struct Part {
    std::int64_t from;
    std::int64_t to;
    Windows windows;
    std::size_t settled = 0;  // shards that have left it
  };
  /// Ages of exchanges that ended without an event of a reply, and without its first byte.
  struct Waits {
    Histogram event;
    Histogram byte;
  };

  Windows new_windows() const;
  void make_phases();
  std::vector<const Window*> windows() const;
  std::vector<const Window*> all_windows() const;
  contract::Counts past_counts() const;
  Histogram tell(const std::vector<const Window*>& windows, Reasons reasons, contract::Result& into) const;
  void tell_kinds(const std::vector<const Window*>& windows, bool last, contract::Result& into) const;
  /// The first instant inside a turn that is not before at. Only of a load that has turns.
  std::int64_t in_turn(std::int64_t at) const;
  /// Takes the next due of an open loop that has turns, in ns after the start: the slots share one
  /// schedule then, so that no exchange waits for one slot while another is free. Any thread may.
  std::int64_t take_due();
  void lay_out();
  SlotPosition position_of(std::int64_t slot) const;
  Schedule schedule_of(std::int64_t slot) const;
  contract::Inside inside(std::int64_t completed, const Histogram& times) const;
  double waiting(Span window, const Histogram& times) const;
  double fell_due(Span window) const;
  Histogram unfinished(std::int64_t now, contract::Result& into, Waits& waits);
  /// How many messages ended of a reply's that has so many bytes.
  std::int64_t messages(std::int64_t bytes) const {
    if (event_bytes_ <= 0) return 0;
    return bytes == down_bytes_ ? (bytes + event_bytes_ - 1) / event_bytes_ : bytes / event_bytes_;
  }
  void tell_parts(const std::vector<const Window*>& windows, Waits waits, contract::Result& into) const;
  std::optional<contract::Arrivals> arrivals() const;

  contract::Load plan_;
  std::uint64_t seed_;
  std::unique_ptr<const Turns> turns_;  // null where exchanges fall due at any time
  std::unique_ptr<const Mix> mix_;      // null where all exchanges are alike
  std::vector<std::string> kinds_;      // names of classes, or of paths
  std::mutex dues_mutex_;
  Schedule dues_;  // of an open loop that has turns; by dues_mutex_
  std::int64_t up_bytes_ = 0;
  std::int64_t down_bytes_ = 0;
  bool events_ = false;       // setup asks when parts of replies come
  bool stages_ = false;       // … how long stages of exchanges take
  bool tells_parts_ = false;  // … either
  std::int64_t event_bytes_ = 0;
  std::int64_t active_ = 0;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<Slot> slots_;
  std::atomic<std::int64_t> start_ns_{0};
  std::atomic<std::int64_t> close_ns_{Slot::kIdle};
  std::int64_t from_ns_ = 0;
  bool open_ = false;
  std::optional<Slicer> slicer_;
  Windows spare_;           // for the next window; empty while there are none
  std::deque<Part> parts_;  // not read yet
  contract::Counts past_;   // of those that were read
  std::int64_t past_sent_ = 0;
  std::unique_ptr<Histogram> past_times_;  // those that slices are of; null before the first
};

inline void Slot::came(std::int64_t before, std::int64_t bytes, std::int64_t now) {
  if (load_->tells_parts_) [[unlikely]]
    tell_parts(load_->messages(bytes) - load_->messages(before), now);
}

inline void Slot::came(std::int64_t events, std::int64_t now) {
  if (load_->tells_parts_) [[unlikely]]
    tell_parts(events, now);
}

inline bool Slot::tells_stages() const { return load_->stages_; }
inline bool Slot::waits_for_event() const { return load_->events_ && event_ns_ == 0; }
inline bool Slot::waits_for_byte() const { return load_->stages_ && !replied_; }

inline bool Slot::next(std::int64_t now, std::int64_t& due) {
  const std::int64_t closing = load_->closing();
  if (left_ == 0) return false;
  if (!started_) free_ += load_->start_ns_.load(std::memory_order_relaxed);
  started_ = true;
  if (open_ && load_->turns_) [[unlikely]] {
    due = load_->start_ns_.load(std::memory_order_relaxed) + load_->take_due();
  } else if (open_) {
    due = load_->start_ns_.load(std::memory_order_relaxed) + schedule_.peek();
  } else if (think_ns_ > 0) {
    due = free_ + think_ns_;
  } else {
    due = now;
  }
  if (load_->turns_ && !open_) [[unlikely]]
    due = load_->in_turn(due);
  // An open loop still sends what was due before the end, so that a stall at the end
  // of the window shows. A closed loop stops: its next exchange would be a new one.
  if (closing != kIdle && (!open_ || due > closing)) return false;
  if (open_ && !load_->turns_) schedule_.advance();
  left_--;
  pending_ = due;
  event_ns_ = 0;
  replied_ = false;
  if (load_->mix_) [[unlikely]]
    begin_class();
  return true;
}

}  // namespace netdyno
