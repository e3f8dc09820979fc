// Ways to take received bytes from the kernel (options receive and lowat).
// Layer: threads worker, above settings, pipe. One connection's thread uses it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>

#include "threads/pipe.h"
#include "threads/settings.h"

namespace netdyno::threads_worker {

/// Whether a receive may wait: it may; poll has said that bytes are there; or it may not.
enum class Waiting { may, polled, must_not };

class Receiver {
 public:
  /// message_bytes is the size of every message that comes; blocks says whether the socket
  /// does. Throws Failure{setup}.
  Receiver(const Settings& settings, std::int64_t message_bytes, bool blocks);

  /// Takes at most buffer.size() received bytes: how many, 0 at the connection's end, or -1
  /// with errno. Where drop is true, buffer may stay as it
  /// is.
  ssize_t receive(int fd, std::span<char> buffer, bool drop, Waiting waiting);
  /// Makes poll wait for what option lowat says. Call it before poll.
  void prepare(int fd);

 private:
  ssize_t spliced(int fd, std::size_t most);

  Settings settings_;
  std::int64_t message_bytes_;
  std::int64_t rest_;  // bytes that are still to come of the message under way
  bool blocks_;
  std::int64_t lowat_ = 1;    // the socket's
  std::optional<Pipe> pipe_;  // with receive=splice
  Descriptor sink_;
};

}  // namespace netdyno::threads_worker
