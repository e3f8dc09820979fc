// The parts of an event loop on io_uring, for both ends: what wakes it besides its connections.
//
// Layer: uring worker, above ring. Threads: as ring.h says, but for Waker::wake.
#pragma once

#include <cstdint>
#include <utility>

#include "kit/system.h"
#include "uring/ring.h"

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

/// Wakes a loop at an instant. It stays set while the loop waits for other things, so that
/// the kernel sets its timer once for each instant and not once for each wait.
class Alarm final : public Owner {
 public:
  explicit Alarm(Ring& ring) : ring_(ring) {}
  /// The loop wakes at an instant of now_ns, and perhaps once before. Inside Ring::run.
  void set(std::int64_t at);
  /// Inside Ring::run.
  void cancel();
  void completed(const Completion&) override { pending_ = false; }

 private:
  Ring& ring_;
  bool pending_ = false;
  std::int64_t at_ = 0;
  __kernel_timespec first_{};  // each until the kernel has read it
  __kernel_timespec sooner_{};
};

struct Loop {
  /// Throws as Ring does.
  explicit Loop(const Settings& settings) : ring(settings) {}

  Ring ring;
  Waker waker{ring};
  Alarm alarm{ring};

  /// Waits until until_ns of now_ns at the latest, or for ever (Ring::kNever), and passes
  /// completions to their owners.
  void turn(std::int64_t until_ns);
  /// Passes what has completed to its owners, and does not wait. Whether anything had.
  bool look();
};

}  // namespace netdyno::uring_worker
