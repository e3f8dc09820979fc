// The parts of an event loop on io_uring, for both ends.
// Layer: uring worker, above waker, buffers. Threads: as ring.h says, but for Waker::wake.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "uring/buffers.h"
#include "uring/ring.h"
#include "uring/settings.h"
#include "uring/waker.h"

namespace netdyno::uring_worker {

class Connection;

struct Loop {
  /// Throws as Ring does.
  explicit Loop(const Settings& chosen);

  Settings settings;
  Ring ring;
  Waker waker{ring};
  Alarm alarm{ring};
  std::unique_ptr<Buffers> buffers;  // null: single receives
  std::vector<Connection*> starved;  // wait for a shared buffer to receive into

  /// Waits until until_ns of now_ns at the latest, or for ever (Ring::kNever), and passes
  /// completions to their owners.
  void turn(std::int64_t until_ns);
  /// Passes what has completed to its owners, and does not wait. Whether anything had.
  bool look();

 private:
  bool deliver();
};

}  // namespace netdyno::uring_worker
