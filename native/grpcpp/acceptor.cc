#include "grpcpp/acceptor.h"

#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "kit/threads.h"

namespace netdyno::grpc_worker {

void OpenConnections::add(int fd) {
  const std::lock_guard lock(mutex_);
  const auto number = static_cast<std::size_t>(fd);
  if (number >= known_.size()) known_.resize(number + 1);
  if (known_[number]) return;  // closed meanwhile, and the number is used again
  known_[number] = true;
  polled_.push_back({fd, POLLRDHUP, 0});
}

std::int64_t OpenConnections::count() {
  const std::lock_guard lock(mutex_);
  if (!polled_.empty() && ::poll(polled_.data(), polled_.size(), 0) > 0) {
    std::erase_if(polled_, [this](const pollfd& p) {
      if (p.revents == 0) return false;
      known_[static_cast<std::size_t>(p.fd)] = false;
      return true;
    });
  }
  return static_cast<std::int64_t>(polled_.size());
}

Acceptor::Acceptor(const contract::Setup& setup)
    : allowed_(setup), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  Listening listening = listen_on(setup, 1);
  for (const auto& copies : listening.fds) listeners_.emplace_back(copies.front());
  addresses_ = std::move(listening.addresses);
}

void Acceptor::start(Admit admit) {
  admit_ = std::move(admit);
  thread_ = std::thread([this] {
    name_thread("accept");
    loop();
  });
}

void Acceptor::stop() {
  if (!thread_.joinable()) return;
  eventfd_write(wake_.get(), 1);
  thread_.join();
}

void Acceptor::loop() {
  std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
  for (const Descriptor& listener : listeners_) polled.push_back({listener.get(), POLLIN, 0});
  while (polled.front().revents == 0) {
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;  // EINTR
    for (std::size_t i = 1; i < polled.size(); i++) {
      if (polled[i].revents != 0) accept(polled[i].fd);
    }
  }
}

/// Accepts what waits at a listener.
void Acceptor::accept(int listener) {
  for (;;) {
    Descriptor fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      // Files ran out, or the client left before it was accepted. Count it and try again
      // after a pause, because trying at once could fail for ever.
      refused_++;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    if (!allowed_.accepts(fd.get()) || !prepare_accepted(fd.get())) continue;  // closes it
    connections_.add(fd.get());
    admit_(listener, fd.release());
  }
}

}  // namespace netdyno::grpc_worker
