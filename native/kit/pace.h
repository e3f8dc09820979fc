// How a client's loop waits: until when it sleeps, and whether it looks for events instead.
//
// Layer: above agenda. Only its loop's thread uses it.
#pragma once

#include <cstdint>

#include "kit/agenda.h"

namespace netdyno {

class Pace {
 public:
  /// agenda outlives it.
  explicit Pace(const Agenda& agenda) : agenda_(agenda) {}

  /// From now on the loop polls: while the next exchange is due within ns, and while one is
  /// in flight, for ns after the last event. 0 lets it always sleep.
  void spin(std::int64_t ns) { spin_ = ns; }
  bool polls() const { return spin_ > 0; }

  /// An event came, or the loop slept until one.
  void stirred(std::int64_t now) {
    if (polls()) until_ = now + spin_;
  }
  /// Whether the loop, which has nothing to do at now, looks again at once.
  bool looks_again(std::int64_t now) const {
    if (!polls()) return false;
    const std::int64_t wakes = agenda_.wakes_at();
    if (wakes != Agenda::kNever && wakes - now < spin_) return true;
    return now < until_ && agenda_.in_flight() > 0;
  }
  /// Until when a loop sleeps that does not look again: with polling a little before the
  /// next exchange, because a sleeper wakes late. Agenda::kNever while none waits.
  std::int64_t sleeps_until() const {
    const std::int64_t wakes = agenda_.wakes_at();
    return wakes == Agenda::kNever ? wakes : wakes - spin_;
  }

 private:
  const Agenda& agenda_;
  std::int64_t spin_ = 0;
  std::int64_t until_ = 0;
};

}  // namespace netdyno
