// The work of a server: a time for each exchange, drawn and spent (CONTRACT.md, section Work).
//
// Layer: above contract, random. Any thread may use it. Go counterparts: internal/draw/draw.go,
// internal/work/load/service.go.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "kit/contract.h"
#include "kit/random.h"

namespace netdyno {

/// Output number n, from 0, of splitmix64 that begins at state.
inline std::uint64_t output_at(std::uint64_t state, std::uint64_t n) {
  return mix(state + (n + 1) * 0x9e3779b97f4a7c15);
}

/// Draws from a table by one stream of a seed.
class Drawer {
 public:
  /// The streams of classes, of keys and of times of work.
  static constexpr std::uint64_t kClasses = 4;
  static constexpr std::uint64_t kKeys = 5;
  static constexpr std::uint64_t kWork = 6;

  /// table is one that wrong_table finds nothing wrong with.
  Drawer(const contract::Table& table, std::uint64_t seed, std::uint64_t stream)
      : base_(output_at(seed, stream - 1)), table_(table) {}

  /// Number n of the stream.
  std::int64_t draw(std::uint64_t n) const;

 private:
  std::uint64_t base_;
  contract::Table table_;
};

class Service {
 public:
  /// The work that a setup asks a server for; nullptr for none. Throws Failure{setup} for a
  /// table that cannot be drawn from.
  static std::unique_ptr<Service> of(const contract::Setup& setup);

  /// Does the work of the next exchange, in the order of the calls. The calling thread uses its
  /// CPU for it, or sleeps.
  void serve();
  /// Whether the time is spent asleep.
  bool sleeps() const { return sleeps_; }
  /// Draws the time of the next exchange, in ns, in place of serve.
  std::int64_t next() { return drawer_.draw(number_.fetch_add(1, std::memory_order_relaxed)); }

 private:
  explicit Service(const contract::Setup& setup);

  Drawer drawer_;
  bool sleeps_;
  std::atomic<std::uint64_t> number_ = 0;  // of the next exchange
};

/// Makes the calling thread use ns of its own CPU time: what preempts it makes it last longer
/// and takes nothing from the work.
void spend(std::int64_t ns);
/// Makes it sleep until an instant of now_ns.
void sleep_until(std::int64_t at);

}  // namespace netdyno
