#include "libevent/buffered.h"

#include <event2/buffer.h>

#include <algorithm>
#include <new>
#include <span>
#include <utility>

namespace netdyno::libevent_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Bytes that libevent buffers for one connection, each way. More are not handed over, or
/// not read, so that a bulk stream cannot fill the memory.
constexpr std::size_t kHeld = 256 << 10;

}  // namespace

Buffered::Buffered(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer)
    : Connection(observer, std::move(flow)),
      events_(bufferevent_socket_new(base.get(), fd.get(), BEV_OPT_CLOSE_ON_FREE), &bufferevent_free) {
  if (!events_) throw std::bad_alloc();  // the only reason to fail
  [[maybe_unused]] const int bufferevents = fd.release();
  bufferevent_setwatermark(events_.get(), EV_READ, 0, kHeld);
  bufferevent_setwatermark(events_.get(), EV_WRITE, kHeld / 4, 0);
  bufferevent_setcb(
      events_.get(),
      [](bufferevent*, void* self) {
        auto& connection = *static_cast<Buffered*>(self);
        connection.guarded([&connection] { connection.readable(); });
      },
      [](bufferevent*, void* self) {
        auto& connection = *static_cast<Buffered*>(self);
        connection.guarded([&connection] {
          if (connection.flush()) connection.readable();
        });
      },
      [](bufferevent*, short, void* self) {
        auto& connection = *static_cast<Buffered*>(self);
        connection.observer_.lost(connection);  // without timeouts this is an end or an error
      },
      this);
}

void Buffered::begin_reading() {
  if (bufferevent_enable(events_.get(), EV_READ) != 0) {
    throw Failure(ErrorKind::setup, "enable a bufferevent: libevent refused it");
  }
}

void Buffered::readable() {
  evbuffer* input = bufferevent_get_input(events_.get());
  while (evbuffer_get_length(input) > 0) {
    const std::span<char> buffer = flow_->read_buffer();
    if (buffer.empty()) break;  // too much is unsent; the next write continues here
    const int n = evbuffer_remove(input, buffer.data(), buffer.size());
    flow_->received(static_cast<std::size_t>(n), observer_.now());
    if (!flush()) return;
  }
  observer_.moved();
}

bool Buffered::flush() {
  const evbuffer* output = bufferevent_get_output(events_.get());
  while (flow_->unsent() && evbuffer_get_length(output) < kHeld) {
    std::span<const char> bytes = flow_->outgoing(observer_.now());
    bytes = bytes.first(std::min(bytes.size(), kHeld));
    if (bufferevent_write(events_.get(), bytes.data(), bytes.size()) != 0) {
      observer_.lost(*this);
      return false;
    }
    flow_->written(bytes.size());
  }
  return true;
}

}  // namespace netdyno::libevent_worker
