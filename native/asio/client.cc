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
  arm();
  if (agenda().held() == 0) return;
  pace().polls() ? poll() : static_cast<void>(context_.run());
}

/// Runs as the context does, and looks for events rather than sleep where the pace says so.
void AsioClientLoop::poll() {
  while (!context_.stopped()) {
    if (context_.poll() > 0) pace().stirred(now_ns());
    if (agenda().is_due(now_ns())) wake();
    if (context_.stopped() || pace().looks_again(now_ns())) continue;
    context_.run_one();
    pace().stirred(now_ns());
  }
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
  arm();
}

void AsioClientLoop::arm() {
  if (agenda().held() == 0) return context_.stop();
  const std::int64_t next = pace().sleeps_until();
  if (next >= armed_ || posted_) return;
  const std::int64_t wait = next - now_ns();
  if (wait <= 0 && pace().polls()) return;  // poll looks by itself
  armed_ = next;
  if (wait <= 0) {
    posted_ = true;
    ::asio::post(context_, [this] {
      posted_ = false;
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
  arm();
}

void AsioClientLoop::closed(ClientConnection& connection) {
  lost(carries_load_[connection.index]);
  arm();
}

}  // namespace netdyno::asio_worker
