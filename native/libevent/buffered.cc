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

/// Bytes that libevent holds for one connection, each way, before it is left to
/// write or is kept from reading: a bulk stream would fill the memory.
constexpr std::size_t kHeld = 256 << 10;

}  // namespace

Buffered::Buffered(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, Keeper& keeper)
    : Connection(keeper, std::move(flow)),
      events_(bufferevent_socket_new(base.get(), fd.get(), BEV_OPT_CLOSE_ON_FREE), &bufferevent_free) {
  if (!events_) throw std::bad_alloc();  // it fails for nothing else
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
        connection.keeper_.lost(connection);  // there are no timeouts: an end or an error
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
    const std::span<char> room = flow_->room();
    if (room.empty()) break;  // flush has not got rid of enough: the next write goes on
    const int n = evbuffer_remove(input, room.data(), room.size());
    flow_->received(static_cast<std::size_t>(n), keeper_.now());
    if (!flush()) return;
  }
  keeper_.moved();
}

bool Buffered::flush() {
  const evbuffer* output = bufferevent_get_output(events_.get());
  while (flow_->unsent() && evbuffer_get_length(output) < kHeld) {
    std::span<const char> bytes = flow_->outgoing(keeper_.now());
    bytes = bytes.first(std::min(bytes.size(), kHeld));
    if (bufferevent_write(events_.get(), bytes.data(), bytes.size()) != 0) {
      keeper_.lost(*this);
      return false;
    }
    flow_->written(bytes.size());
  }
  return true;
}

}  // namespace netdyno::libevent_worker
