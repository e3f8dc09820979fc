// What an event loop on io_uring has, whichever end it drives.
// Layer: uring worker, above ring, buffers. Threads: as ring.h says, but for Bell::ring.
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

/// Wakes a loop from another thread, by an eventfd that the ring reads. What it
/// wakes for lies in the loop's own fields; several rings may be one wake-up.
class Bell final : public Owner {
 public:
  /// Throws Failure{setup}.
  explicit Bell(Ring& ring);
  /// Any thread; does not block.
  void ring();
  /// Begins to hear. Inside Ring::run.
  void hear();
  /// Whether it was rung since the last time that this was asked. Inside Ring::run.
  bool rang() { return std::exchange(heard_, false); }
  void completed(const Completion& completion) override;

 private:
  Ring& ring_;
  Descriptor fd_;
  std::uint64_t count_ = 0;
  bool heard_ = false;
};

class Connection;

struct Loop {
  /// Throws as Ring does.
  explicit Loop(const Settings& chosen);

  Settings settings;
  Ring ring;
  Bell bell{ring};
  std::unique_ptr<Buffers> buffers;   // null: single receives
  std::vector<Connection*> starving;  // found no buffer to receive into

  /// Waits until until_ns at the latest, and tells owners of all that completed.
  void turn(std::int64_t until_ns);
};

}  // namespace netdyno::uring_worker
