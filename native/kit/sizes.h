// What a client counts of exchanges that differ: times by size and by class, and of small exchanges
// whether a larger one was on their connection (contract/DRAWS.md, contract/MIXES.md).
//
// Layer: above histogram, contract. Go counterpart: internal/work/load/bins.go, classes.go.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kit/contract.h"
#include "kit/histogram.h"
#include "kit/system.h"

namespace netdyno {

inline constexpr int kMostBins = 14;
/// The bin of an exchange by its larger message, in bytes: bin 0 is below 64 B, and bin k from
/// 64 · 4^(k − 1) B on.
inline int bin_of(std::int64_t bytes) {
  const int bin = (static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 5) / 2;
  return std::clamp(bin, 0, kMostBins - 1);
}

/// How many bins larger an exchange is that holds up a small one.
inline constexpr int kBinsApart = 2;

/// A histogram that several loops count in. It is made when the first value comes, because most
/// of them stay empty.
class SharedTimes : Pinned {
 public:
  SharedTimes() = default;
  ~SharedTimes() { delete times_.load(); }

  /// alone: one thread counts. Any thread.
  void record(std::int64_t ns, bool alone) {
    Histogram* times = times_.load(std::memory_order_acquire);
    if (times == nullptr) [[unlikely]]
      times = made();
    alone ? times->record(ns) : times->record_shared(ns);
  }
  /// What was counted; nullptr for nothing. Once all loops have ended.
  const Histogram* get() const { return times_.load(std::memory_order_acquire); }

 private:
  Histogram* made();

  std::atomic<Histogram*> times_{nullptr};
};

/// From when until when an exchange was in flight, in ns.
struct InFlight {
  std::int64_t from = 0;
  std::int64_t to = -1;  // -1 for none
};

/// Of one connection, which exchanges larger than small ones are in flight, and of those that have
/// completed the last one of each bin. Only its loop's thread uses it. What each of its slots has
/// in flight is told by number.
class Waits {
 public:
  explicit Waits(std::size_t slots) : flying_(slots) {}

  /// An exchange of a bin begins, due at that instant.
  void begin(std::size_t slot, int bin, std::int64_t due) {
    flying_[slot] = {bin, due};
    begun_[static_cast<std::size_t>(bin)]++;
  }
  /// It is over. of is when it was in flight, where it completed.
  void end(std::size_t slot, InFlight of) {
    const auto bin = static_cast<std::size_t>(std::exchange(flying_[slot].bin, -1));
    begun_[bin]--;
    if (of.to >= 0) last_[bin] = of;
  }
  /// Whether an exchange at least kBinsApart larger than those of a bin was in flight at some
  /// moment from when one was due until it was sent.
  bool behind(int bin, std::int64_t due, std::int64_t sent) const {
    bool flying = false;
    for (auto b = static_cast<std::size_t>(bin + kBinsApart); b < last_.size(); b++) {
      if (due <= last_[b].to && last_[b].from <= sent) return true;
      flying = flying || begun_[b] > 0;
    }
    return flying && std::any_of(flying_.begin(), flying_.end(), [bin, sent](const Flying& other) {
             return other.bin >= bin + kBinsApart && other.due <= sent;
           });
  }

 private:
  struct Flying {
    int bin = -1;
    std::int64_t due = 0;
  };
  std::vector<Flying> flying_;
  std::array<InFlight, kMostBins> last_{};
  std::array<std::uint32_t, kMostBins> begun_{};
};

/// Times by size and by class, in the window and draining.
class SizedTimes : Pinned {
 public:
  /// alone: one loop counts. open: the load has response times.
  SizedTimes(std::int64_t largest, std::size_t classes, bool open, bool alone)
      : largest_(bin_of(largest)), classes_(classes), open_(open), alone_(alone) {}

  /// Counts a completed exchange. waits are its connection's; nullptr where exchanges cannot wait
  /// for each other.
  struct Of {
    int bin;
    std::int32_t of_class;
    std::int64_t due;
    std::int64_t sent;
    std::int64_t now;
  };
  void record(const Of& of, const Waits* waits);

  /// What was counted. Once all loops have ended.
  std::vector<contract::SizeBin> bins() const;
  /// Adds the classes' times. The others' parts are set.
  void add_to(std::vector<contract::ClassResult>& classes) const;

 private:
  struct Bin {
    SharedTimes service;  // of an open loop
    SharedTimes whole;    // what cannot be behind or free
    SharedTimes behind;
    SharedTimes free;
  };
  struct ClassTimes {
    SharedTimes service;
    SharedTimes response;
  };

  int largest_;  // bin
  std::array<Bin, kMostBins> bins_;
  std::vector<ClassTimes> classes_;
  bool open_;
  bool alone_;
};

}  // namespace netdyno
