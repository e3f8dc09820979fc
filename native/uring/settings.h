// What transport uring can be told, beyond what every transport over TCP can.
// Layer: uring worker, bottom. Plain values; any thread.
#pragma once

#include <vector>

#include "kit/contract.h"

namespace netdyno::uring_worker {

struct Settings {
  /// Submissions that a ring holds until they are handed to the kernel. Longer
  /// batches are no faster, and what thousands of connections send in one can
  /// overflow the queue of packets to be received (net.core.netdev_max_backlog).
  unsigned entries = 128;
  /// A thread of the kernel's takes submissions; its CPU time is this process's.
  bool sqpoll = false;
  /// One submission receives until the connection ends, into buffers that all
  /// connections of a loop share.
  bool multishot = false;
  /// Sends by IORING_OP_SEND_ZC.
  bool zero_copy = false;

  /// The settings in a setup's effective options.
  static Settings of(const contract::Json& options);
};

/// Options recv, send, sqpoll and entries.
std::vector<contract::Option> setting_options();

}  // namespace netdyno::uring_worker
