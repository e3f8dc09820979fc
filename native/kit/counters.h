// What a client counts, by shard and phase.
//
// Layer: below load. A shard is the set of slots that one loop drives; only that
// loop writes to it. The control thread switches the phase. It may read the sums and
// what the histograms count at any time, and the histograms as a whole once the loop
// has ended. A completion goes to the counters of one phase as a whole, so the counts
// and histograms of a phase agree.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "kit/arrival.h"
#include "kit/contract.h"
#include "kit/histogram.h"
#include "kit/inside.h"
#include "kit/reasons.h"
#include "kit/sum.h"

namespace netdyno {

/// A completed exchange: four instants of now_ns in ns, and the payload bytes
/// received.
struct Completion {
  std::int64_t free;  // when its slot became free for it
  std::int64_t due;
  std::int64_t sent;
  std::int64_t now;
  std::int64_t received;
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
  std::int64_t expected = 0;  // length of a reply, in bytes

  /// A reply of another length.
  void varied(std::int64_t bytes) {
    if (!lengths) lengths = std::make_unique<Histogram>();
    lengths->record(bytes);
  }
};

/// The counts of one shard in one phase.
struct Counters {
  Sum exchanges;
  Sum received;
  Sum unsent;  // of the errors, those whose request never went out
  std::array<Sum, contract::kErrorKinds> errors;
  Times* times = nullptr;  // null before the window
  Parts parts;
  Reasons reasons;  // of the errors; to be read once the loop has ended

  /// How many requests ended in the phase.
  std::int64_t sent() const {
    std::int64_t all = exchanges.get() - unsent.get();
    for (const Sum& failed : errors) all += failed.get();
    return all;
  }

  /// Adds to counts. The bytes sent follow from the number of exchanges.
  void add_to(contract::Counts& counts, std::int64_t up_bytes) const {
    counts.exchanges += exchanges.get();
    counts.sent_bytes += exchanges.get() * up_bytes;
    counts.received_bytes += received.get();
    for (std::size_t kind = 0; kind < errors.size(); kind++) counts.errors[kind] += errors[kind].get();
  }
};

/// Aligned so that two loops never share a cache line.
struct alignas(128) Shard {
  std::atomic<Counters*> phase{&before};
  Counters before;
  Counters window;
  Counters drain;
  Times times;
  Sum again;  // requests that went out once more

  Shard() { window.times = drain.times = &times; }
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  void record(const Completion& c) {
    Counters& counters = *phase.load(std::memory_order_acquire);  // what parts know of the window
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

  void fail(contract::ErrorKind kind, std::string_view why, bool went_out) {
    Counters& counters = *phase.load(std::memory_order_relaxed);
    counters.errors[static_cast<std::size_t>(kind)].add(1);
    if (!went_out) counters.unsent.add(1);
    if (counters.times != nullptr) counters.reasons.add(kind, why);
  }
};

}  // namespace netdyno
