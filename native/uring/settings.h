// The settings of transport uring, beyond those of every transport over TCP.
// Layer: uring worker, bottom. Plain values; any thread.
#pragma once

#include <vector>

#include "kit/contract.h"

namespace netdyno::uring_worker {

struct Settings {
  /// Submissions that a ring holds until they are handed to the kernel. Longer batches are
  /// no faster, and one batch of thousands of connections can overflow the queue of
  /// received packets (net.core.netdev_max_backlog).
  unsigned entries = 128;
  /// A kernel thread takes submissions. Its CPU time counts for this process.
  bool sqpoll = false;
  /// One submission receives until the connection ends, into buffers that all connections
  /// of a loop share.
  bool multishot = false;
  /// Sends by IORING_OP_SEND_ZC.
  bool zero_copy = false;
  /// Of an open loop's client: replies do not wake the loop. It takes them when the next
  /// exchange is due, at the times at which the kernel received them.
  bool stamped = false;

  /// The settings in a setup, whose options are effective ones.
  static Settings of(const contract::Setup& setup);
};

/// Options recv, send, replies, sqpoll and entries.
std::vector<contract::Option> setting_options();

}  // namespace netdyno::uring_worker
