#include "asio/server.h"

#include <chrono>
#include <utility>

#include "kit/descriptor.h"

namespace netdyno::asio_worker {

namespace {

constexpr auto kPause = std::chrono::milliseconds(10);

}  // namespace

void AsioServerLoop::listen(int listener, std::function<void(int fd)> admit) {
  listeners_.push_back(std::make_unique<Listener>(
      Listener{Acceptor(context_, protocol_of(listener), listener), Timer(context_), std::move(admit)}));
  accept(*listeners_.back());
}

void AsioServerLoop::accept(Listener& listener) {
  listener.acceptor.async_accept([this, &listener](const std::error_code& error, Socket socket) {
    if (error) return pause(listener);
    listener.admit(socket.release());
    accept(listener);
  });
}

void AsioServerLoop::pause(Listener& listener) {
  refused++;
  listener.pause.expires_after(kPause);
  listener.pause.async_wait([this, &listener](const std::error_code& error) {
    if (!error) accept(listener);
  });
}

void AsioServerLoop::adopt(int fd, std::unique_ptr<Flow> flow) {
  ::asio::dispatch(context_, [this, socket = Descriptor(fd), flow = std::move(flow)]() mutable {
    connections_.push_back(std::make_unique<ServerConnection>(
        *this, connections_.size(), take_over(context_, socket.release()), std::move(flow)));
    connections_.back()->begin();
  });
}

void AsioServerLoop::run() {
  const auto work = ::asio::make_work_guard(context_);
  context_.run();
}

void AsioServerLoop::released(ServerConnection& connection) {
  const std::size_t index = connection.index;
  std::swap(connections_[index], connections_.back());
  connections_[index]->index = index;
  connections_.pop_back();
}

}  // namespace netdyno::asio_worker
