#include "libevent/direct.h"

#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <utility>

namespace netdyno::libevent_worker {

namespace {

/// Reads, and writes, of one connection before the loop serves others. A bulk stream could
/// otherwise occupy the loop for ever.
constexpr int kAtOnce = 16;

}  // namespace

Direct::Direct(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer)
    : Connection(observer, std::move(flow)),
      fd_(std::move(fd)),
      reading_(
          base, fd_.get(), EV_READ,
          [](evutil_socket_t, short, void* self) {
            auto& connection = *static_cast<Direct*>(self);
            connection.guarded([&connection] { connection.readable(); });
          },
          this),
      writing_(
          base, fd_.get(), EV_WRITE,
          [](evutil_socket_t, short, void* self) {
            auto& connection = *static_cast<Direct*>(self);
            connection.guarded([&connection] {
              connection.writing_.stop();
              connection.flush();
            });
          },
          this) {}

void Direct::readable() {
  for (int i = 0; i < kAtOnce; i++) {
    const std::span<char> buffer = flow_->read_buffer();
    if (buffer.empty()) {
      reading_.stop();  // flush starts it again
      break;
    }
    const ssize_t n = recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) return observer_.lost(*this);
    flow_->received(static_cast<std::size_t>(n), observer_.now());
    if (!flush()) return;
    if (static_cast<std::size_t>(n) < buffer.size()) break;  // the kernel has no more
  }
  observer_.moved();
}

bool Direct::flush() {
  if (writing_.started()) return true;
  for (int i = 0; flow_->unsent(); i++) {
    if (i == kAtOnce) {
      writing_.start();
      break;
    }
    const std::span<const char> bytes = flow_->outgoing(observer_.now());
    const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      writing_.start();
      break;
    }
    if (n < 0) {
      observer_.lost(*this);
      return false;
    }
    flow_->written(static_cast<std::size_t>(n));
  }
  if (!reading_.started() && !flow_->read_buffer().empty()) reading_.start();
  return true;
}

void Direct::close() {
  reading_.stop();
  writing_.stop();
  fd_ = Descriptor();
}

}  // namespace netdyno::libevent_worker
