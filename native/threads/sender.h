// Ways to hand a flow's outgoing bytes to the kernel (option send).
// Layer: threads worker, above settings, account, pipe. One connection's thread uses a
// sender; a Block is immutable.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>

#include "kit/contract.h"
#include "kit/descriptor.h"
#include "threads/settings.h"

namespace netdyno::threads_worker {

/// What one direction of wire stream sends, in a file in memory: the block that every
/// message repeats.
class Block {
 public:
  /// The block that this end of a trial sends. Throws Failure{setup}.
  explicit Block(const contract::Setup& setup);

  int file() const { return file_.get(); }
  std::int64_t message_bytes() const { return message_bytes_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t message_bytes_;
  std::int64_t bytes_;
  Descriptor file_;
};

class Sender {
 public:
  virtual ~Sender() = default;

  /// Sends the first bytes of what the connection has to send next, at most the given
  /// ones: how many, or -1 with errno. Waits until the kernel takes some, unless wait is
  /// false or the socket does not block.
  virtual ssize_t send(int fd, std::span<const char> bytes, bool wait) = 0;
  /// Takes in what the kernel says of earlier sends. Call it when poll reports POLLERR.
  virtual void settle(int) {}
};

/// The sender that the settings ask for. block is null where they need none, and outlives
/// the sender. Throws Failure{setup}.
std::unique_ptr<Sender> make_sender(const Settings& settings, const Block* block);

}  // namespace netdyno::threads_worker
