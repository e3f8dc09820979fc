#include "threads/receiver.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "kit/contract.h"

namespace netdyno::threads_worker {

using contract::ErrorKind;
using contract::Failure;

Receiver::Receiver(const Settings& settings, std::int64_t message_bytes, bool blocks)
    : settings_(settings), message_bytes_(message_bytes), rest_(message_bytes), blocks_(blocks) {
  if (settings_.receive != Receive::splice) return;
  pipe_.emplace();
  sink_ = Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (sink_.get() >= 0) return;
  throw Failure(ErrorKind::setup,
                "open /dev/null for option receive=splice: " + std::generic_category().message(errno));
}

ssize_t Receiver::receive(int fd, std::span<char> buffer, bool drop, Waiting waiting) {
  ssize_t n;
  // splice(2) has no flag against waiting for a socket.
  if (drop && pipe_ && (waiting != Waiting::must_not || !blocks_)) {
    n = spliced(fd, buffer.size());
  } else {
    const bool truncates = drop && settings_.receive == Receive::truncate;
    n = recv(fd, buffer.data(), buffer.size(),
             (truncates ? MSG_TRUNC : 0) | (waiting == Waiting::may ? 0 : MSG_DONTWAIT));
  }
  if (n > 0) rest_ = message_bytes_ - (message_bytes_ - rest_ + n) % message_bytes_;
  return n;
}

ssize_t Receiver::spliced(int fd, std::size_t most) {
  const ssize_t n = splice(fd, nullptr, pipe_->in.get(), nullptr, most, 0);
  for (ssize_t left = n; left > 0;) {
    const ssize_t dropped =
        splice(pipe_->out.get(), nullptr, sink_.get(), nullptr, static_cast<std::size_t>(left), 0);
    if (dropped <= 0) return dropped;
    left -= dropped;
  }
  return n;
}

/// Asks the kernel to wake this thread no earlier than the option says. For the rest of a
/// message that is less, because nothing may follow it until it is answered.
void Receiver::prepare(int fd) {
  if (settings_.lowat == 0) return;
  const std::int64_t wanted = std::min(settings_.lowat, rest_);
  if (wanted == lowat_) return;
  const int bytes = static_cast<int>(wanted);
  if (setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes) != 0) {
    throw Failure(ErrorKind::setup, "set option lowat to " + std::to_string(wanted) + ": " +
                                        std::generic_category().message(errno));
  }
  lowat_ = wanted;
}

}  // namespace netdyno::threads_worker
