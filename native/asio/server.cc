#include "asio/server.h"

#include <chrono>
#include <utility>

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
  {
    const std::lock_guard lock(mutex_);
    newcomers_.push_back({Descriptor(fd), std::move(flow)});
  }
  waker_.wake();
}

void AsioServerLoop::stop() {
  stopped_ = true;
  waker_.wake();
}

void AsioServerLoop::run() {
  waker_.arm([this] { woken(); });
  context_.run();
}

void AsioServerLoop::woken() {
  if (stopped_) return context_.stop();
  std::vector<Newcomer> newcomers;
  {
    const std::lock_guard lock(mutex_);
    newcomers.swap(newcomers_);
  }
  for (Newcomer& newcomer : newcomers) {
    connections_.push_back(std::make_unique<ServerConnection>(*this, connections_.size(),
                                                              take_over(context_, newcomer.socket.release()),
                                                              std::move(newcomer.flow)));
    connections_.back()->begin();
  }
}

void AsioServerLoop::released(ServerConnection& connection) {
  const std::size_t index = connection.index;
  std::swap(connections_[index], connections_.back());
  connections_[index]->index = index;
  connections_.pop_back();
}

}  // namespace netdyno::asio_worker
