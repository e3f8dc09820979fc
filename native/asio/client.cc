#include "asio/client.h"

#include <chrono>
#include <utility>

namespace netdyno::asio_worker {

void AsioClientLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  connections_.push_back(std::make_unique<ClientConnection>(*this, connections_.size(),
                                                            take_over(context_, fd), std::move(flow)));
  carries_load_.push_back(active);
  opened(active);
}

void AsioClientLoop::run() {
  for (const auto& connection : connections_) connection->begin();
  waker_.arm([this] { woken(); });
  pace();
  if (agenda().held() > 0) context_.run();
}

void AsioClientLoop::end(std::int64_t closing) {
  closing_ = closing;
  waker_.wake();
}

void AsioClientLoop::stop() {
  stopped_ = true;
  waker_.wake();
}

void AsioClientLoop::woken() {
  if (stopped_) return context_.stop();
  if (closing_ != Agenda::kNever) agenda().end(closing_);
  pace();
}

void AsioClientLoop::pace() {
  if (agenda().held() == 0) return context_.stop();
  const std::int64_t next = agenda().wakes_at();
  if (next >= armed_ || polling_) return;
  armed_ = next;
  const std::int64_t wait = next - now_ns();
  if (wait <= 0) {
    polling_ = true;
    ::asio::post(context_, [this] {
      polling_ = false;
      wake();
    });
    return;
  }
  // asio arms a timerfd, whose wake-up the kernel does not round. If it is late, the load
  // records that as lag. Polling instead would make an idle client look busy.
  timer_.expires_after(std::chrono::nanoseconds(wait));
  timer_.async_wait([this](const std::error_code& error) {
    if (!error) wake();  // an error means that it was armed for an earlier instant
  });
}

/// Sends what is due, and then waits for the next slot.
void AsioClientLoop::wake() {
  armed_ = Agenda::kNever;
  while (agenda().is_due(now_ns())) {
    const Agenda::Entry entry = agenda().take();
    connections_[entry.connection]->send(entry.slot);
  }
  pace();
}

void AsioClientLoop::closed(ClientConnection& connection) {
  lost(carries_load_[connection.index]);
  pace();
}

}  // namespace netdyno::asio_worker
