// What a client counts, by shard and phase, and of what: work inside the window, sends, lately
// completed times.
//
// A shard is the set of slots that one loop drives; only that loop writes to it. The control
// thread switches the phase. It may read the sums and what the histograms count at any time, and
// the rest once the loop has ended. A completion goes to the counters of one phase as a whole, so
// that counts and histograms of a phase agree.
//
// Layer: above histogram. Go counterpart: internal/work/load.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/histogram.h"
#include "kit/reasons.h"

namespace netdyno {

/// A sum with one writer. Other threads may read it. Adding is a plain addition
/// without a locked instruction.
class Sum {
 public:
  void add(std::int64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

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

/// A completed exchange: four instants of now_ns in ns, and the payload bytes
/// received.
struct Completion {
  std::int64_t free;  // when its slot became free for it
  std::int64_t due;
  std::int64_t sent;
  std::int64_t now;
  std::int64_t received;
};

/// The times of one kind of exchange, a class or a path: each made with the first one.
struct KindTimes {
  std::unique_ptr<Histogram> service;
  std::unique_ptr<Histogram> response;
};

/// The counts of one kind of exchange.
struct KindCounts {
  Sum exchanges;
  Sum sent;
  Sum received;
  Sum errors;
  Sum late;
};

/// Records in a histogram that is made with its first time.
inline void record_in(std::unique_ptr<Histogram>& in, std::int64_t ns) {
  if (!in) in = std::make_unique<Histogram>();
  in->record(ns);
}

/// When events of replies came: each made with its first time.
struct EventTimes {
  std::unique_ptr<Histogram> first;
  std::unique_ptr<Histogram> gaps;
  std::unique_ptr<Histogram> waiting;
};

/// How long stages of exchanges took: each made with its first time.
struct StageTimes {
  std::unique_ptr<Histogram> connect;
  std::unique_ptr<Histogram> handshake;
  std::unique_ptr<Histogram> first_byte;
  std::unique_ptr<Histogram> waiting;
};

/// The histograms of one shard, and when it sent. response and lag are null where
/// the load defines no due time (specification §3.2). sends is null in a closed loop, which
/// declares no arrivals. lengths counts the replies of another length than was expected, and
/// is made with the first one.
struct Times {
  Histogram service;
  std::unique_ptr<Histogram> response;
  std::unique_ptr<Histogram> lag;
  std::unique_ptr<Sends> sends;
  std::unique_ptr<Histogram> lengths;
  std::unique_ptr<Histogram> late;  // ages of exchanges that timed out, made with the first one
  EventTimes events;
  StageTimes stages;
  std::int64_t expected = 0;     // length of a reply, in bytes
  std::vector<KindTimes> kinds;  // none where exchanges are not told apart

  /// A reply of another length.
  void varied(std::int64_t bytes) { record_in(lengths, bytes); }
};

/// The counts of one shard in one phase.
struct Counters {
  Sum exchanges;
  Sum received;
  Sum more;     // bytes sent beyond those that setup says of each exchange
  Sum unsent;   // of the errors, those whose request never went out
  Sum events;   // of replies, where they are told
  Sum resumed;  // sessions, by handshakes, where stages are told
  std::array<Sum, contract::kErrorKinds> errors;
  Times* times = nullptr;  // null before the window
  Parts parts;
  Reasons reasons;                // of the errors; to be read once the loop has ended
  std::vector<KindCounts> kinds;  // none where exchanges are not told apart

  /// How many requests ended in the phase.
  std::int64_t sent() const {
    std::int64_t all = exchanges.get() - unsent.get();
    for (const Sum& failed : errors) all += failed.get();
    return all;
  }

  /// Adds to counts. up_bytes is the size up of each exchange.
  void add_to(contract::Counts& counts, std::int64_t up_bytes) const {
    counts.exchanges += exchanges.get();
    counts.sent_bytes += exchanges.get() * up_bytes + more.get();
    counts.received_bytes += received.get();
    for (std::size_t kind = 0; kind < errors.size(); kind++) counts.errors[kind] += errors[kind].get();
  }
};

/// What one shard counts in one window.
struct alignas(128) Window {
  Counters counters;
  Times times;

  Window() { counters.times = &times; }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
};

/// Aligned so that two loops never share a cache line.
struct alignas(128) Shard {
  std::atomic<Counters*> phase{&before};
  std::atomic<bool> counting{false};  // an exchange is being counted
  Counters before;
  std::unique_ptr<Window> window;  // the last one
  Counters drain;
  Sum again;  // requests that went out once more

  Shard() = default;
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  /// The counters of what completes now: the same ones for all parts of an exchange, from begin to
  /// counted. Who has switched the phase and, a while later, finds counting false, may read all
  /// that the earlier phase holds: by then a begin that saw it is visible, or is over.
  Counters& begin() {
    counting.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return *phase.load(std::memory_order_acquire);  // what parts know of the window
  }
  void counted() { counting.store(false, std::memory_order_release); }

  static void record(Counters& counters, const Completion& c) {
    counters.exchanges.add(1);
    counters.received.add(c.received);
    if (counters.times == nullptr) return;
    counters.parts.add(c.free, c.sent, c.now);
    counters.times->service.record(c.now - c.sent);
    if (counters.times->lag) counters.times->lag->record(c.sent - c.due);
    if (counters.times->response) counters.times->response->record(c.now - c.due);
    if (counters.times->sends) counters.times->sends->record(c.sent);
    if (c.received != counters.times->expected) [[unlikely]]
      counters.times->varied(c.received);
  }

  static void fail(Counters& counters, contract::ErrorKind kind, std::string_view why, bool went_out) {
    counters.errors[static_cast<std::size_t>(kind)].add(1);
    if (!went_out) counters.unsent.add(1);
    if (counters.times != nullptr) counters.reasons.add(kind, why);
  }
};

/// Times of what completed lately, read from histograms that are still written to.
///
/// The control thread owns a Slicer. Go counterpart: internal/hist/slices.go and
/// internal/work/load/slice.go.
class Slicer {
 public:
  /// The first slice begins when the histograms were made. It takes 240 KB, whatever their
  /// number.
  Slicer();

  /// The times that were counted since the last call; none when none were. The histograms hold all
  /// that they held then. It reads every position of every histogram: some 15 µs for each.
  std::optional<contract::TickTimes> next(const std::vector<const Histogram*>& histograms);

 private:
  std::vector<std::int64_t> before_;  // by position, over all histograms
};

}  // namespace netdyno
