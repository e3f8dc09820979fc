// A file descriptor that closes itself. Layer: bottom; a movable value.
#pragma once

#include <unistd.h>

#include <utility>

namespace netdyno {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// Negative when it holds none.
  int get() const { return fd_; }
  /// Gives up ownership without closing it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace netdyno
