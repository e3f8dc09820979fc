// The work of a server: a time for each exchange, drawn and spent (CONTRACT.md, section Work).
//
// Layer: above draw. Any thread may use it. Go counterpart: internal/work/load/service.go.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "kit/contract.h"
#include "kit/draw.h"

namespace netdyno {

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

}  // namespace netdyno
