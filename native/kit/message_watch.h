// The control sockets of a loop's connections: silent, and their end tells that the
// other end is gone. Besides, other threads wake the loop by it.
//
// Layer: bottom. One loop's thread; wake from any.
#pragma once

#include <cstddef>
#include <vector>

#include "kit/descriptor.h"

namespace netdyno {

class MessageWatch {
 public:
  /// Throws std::system_error when the kernel gives no descriptor.
  MessageWatch();

  /// Watches a connection's control socket, until it is closed.
  void add(int control, std::size_t connection);
  /// Readable while anything is to be seen: once a socket ends, and after wake.
  int descriptor() const { return epoll_.get(); }
  /// The connections whose control sockets ended since the last call. One system call
  /// when none did.
  std::vector<std::size_t> ended();
  /// Makes descriptor() readable until the next call of ended.
  void wake() const;

 private:
  Descriptor epoll_;
  Descriptor event_;
};

}  // namespace netdyno
