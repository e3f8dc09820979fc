// The parts of an event loop on io_uring, for both ends.
// Layer: uring worker, above ring, buffers. Threads: as ring.h says, but for Waker::wake.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kit/descriptor.h"
#include "uring/buffers.h"
#include "uring/ring.h"
#include "uring/settings.h"

namespace netdyno::uring_worker {

/// Wakes a loop from another thread, by an eventfd that the ring reads. The loop keeps the
/// reason in its own fields. Several calls of wake may cause only one wake-up.
class Waker final : public Owner {
 public:
  /// Throws Failure{setup}.
  explicit Waker(Ring& ring);
  /// Any thread; does not block.
  void wake();
  /// Begins to wait for wake. Inside Ring::run.
  void arm();
  /// Whether wake was called since the last call of woken. Inside Ring::run.
  bool woken() { return std::exchange(woken_, false); }
  void completed(const Completion& completion) override;

 private:
  Ring& ring_;
  Descriptor fd_;
  std::uint64_t count_ = 0;
  bool woken_ = false;
};

class Connection;

struct Loop {
  /// Throws as Ring does.
  explicit Loop(const Settings& chosen);

  Settings settings;
  Ring ring;
  Waker waker{ring};
  std::unique_ptr<Buffers> buffers;  // null: single receives
  std::vector<Connection*> starved;  // wait for a shared buffer to receive into

  /// Waits until until_ns at the latest, and passes completions to their owners.
  void turn(std::int64_t until_ns);
};

}  // namespace netdyno::uring_worker
