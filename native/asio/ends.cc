#include "asio/ends.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "asio/loops.h"

namespace netdyno::asio_worker {

void AsioClientLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  connections_.push_back(std::make_unique<ClientConnection>(*this, take_over(context_, fd), std::move(flow)));
  connections_.back()->index = connections_.size() - 1;
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
    if (agenda().is_due(now_ns())) due();
    if (context_.stopped() || pace().looks_again(now_ns())) continue;
    context_.run_one();
    pace().stirred(now_ns());
  }
}

void AsioClientLoop::woken() {
  if (stopped()) return context_.stop();
  heed();
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
      due();
    });
    return;
  }
  // asio arms a timerfd, whose wake-up the kernel does not round. If it is late, the load
  // records that as lag. Polling instead would make an idle client look busy.
  timer_.expires_after(std::chrono::nanoseconds(wait));
  timer_.async_wait([this](const std::error_code& error) {
    if (!error) due();  // an error means that it was armed for an earlier instant
  });
}

void AsioClientLoop::due() {
  armed_ = Agenda::kNever;
  send_due([this](std::size_t connection, std::uint32_t slot) { connections_[connection]->send(slot); });
  arm();
}

void AsioClientLoop::closed(ClientConnection& connection) {
  lost(connection.index);
  arm();
}

namespace {}  // namespace

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
  listener.pause.expires_after(std::chrono::nanoseconds(kAcceptPauseNs));
  listener.pause.async_wait([this, &listener](const std::error_code& error) {
    if (!error) accept(listener);
  });
}

void AsioServerLoop::run() {
  waker_.arm([this] { woken(); });
  context_.run();
}

void AsioServerLoop::woken() {
  if (stopped()) return context_.stop();
  for (Newcomer& newcomer : newcomers()) {
    keep(connections_, std::make_unique<ServerConnection>(
                           *this, take_over(context_, newcomer.socket.release()), std::move(newcomer.flow)))
        .begin();
  }
}

void AsioServerLoop::arm() {
  armed_ = traffic.rests.next();
  rest_.expires_after(std::chrono::nanoseconds(std::max<std::int64_t>(0, armed_ - now_ns())));
  rest_.async_wait([this](const std::error_code& error) {
    if (error) return;  // it was armed for an earlier instant
    armed_ = Rests::kNever;
    wake_rested([](void* connection) { static_cast<ServerConnection*>(connection)->rested(); });
    moved();
  });
}

Engine engine() { return Engine::of<AsioServerLoop, AsioClientLoop>(); }

std::string version() {
  return std::to_string(ASIO_VERSION / 100000) + "." + std::to_string(ASIO_VERSION / 100 % 1000) + "." +
         std::to_string(ASIO_VERSION % 100);
}

}  // namespace netdyno::asio_worker
