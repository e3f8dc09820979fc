// What a client counts, by lane and phase.
//
// Layer: below load. A lane is the set of slots that one loop drives. Its loop
// alone writes; the control thread switches the phase and reads the sums at any
// time, the histograms only after the loop has ended. A completion goes whole
// to the tally of the moment, so counters and histograms of a phase agree.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "kit/arrival.h"
#include "kit/contract.h"
#include "kit/histogram.h"

namespace netdyno {

/// A sum with one writer that other threads may read: a plain addition, no
/// locked instruction.
class Sum {
 public:
  void add(std::int64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// A completed exchange: three instants in ns of now_ns, and payload bytes.
struct Completion {
  std::int64_t due;
  std::int64_t sent;
  std::int64_t now;
  std::int64_t received;
};

/// The histograms of one lane, and when it sent. Response and lag stay null where
/// their values would be invented (METHOD §3.2), sends in a closed loop, which
/// declares no arrivals.
struct Times {
  Histogram service;
  std::unique_ptr<Histogram> response;
  std::unique_ptr<Histogram> lag;
  std::unique_ptr<Sends> sends;
};

/// The counts of one lane in one phase.
struct Tally {
  Sum exchanges;
  Sum received;
  std::array<Sum, contract::kErrorKinds> errors;
  Times* times = nullptr;  // null before the window

  /// Adds to counts; sent bytes follow from the exchange.
  void add_to(contract::Counts& counts, std::int64_t up_bytes) const {
    counts.exchanges += exchanges.get();
    counts.sent_bytes += exchanges.get() * up_bytes;
    counts.received_bytes += received.get();
    for (std::size_t kind = 0; kind < errors.size(); kind++) counts.errors[kind] += errors[kind].get();
  }
};

/// Aligned so that two loops never share a cache line.
struct alignas(128) Lane {
  std::atomic<Tally*> phase{&before};
  Tally before;
  Tally window;
  Tally drain;
  Times times;

  Lane() { window.times = drain.times = &times; }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void record(const Completion& c) {
    Tally& tally = *phase.load(std::memory_order_relaxed);
    tally.exchanges.add(1);
    tally.received.add(c.received);
    if (tally.times == nullptr) return;
    tally.times->service.record(c.now - c.sent);
    if (tally.times->lag) tally.times->lag->record(c.sent - c.due);
    if (tally.times->response) tally.times->response->record(c.now - c.due);
    if (tally.times->sends) tally.times->sends->record(c.sent);
  }

  void fail(contract::ErrorKind kind) {
    phase.load(std::memory_order_relaxed)->errors[static_cast<std::size_t>(kind)].add(1);
  }
};

}  // namespace netdyno
