#include "asio/client.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "asio/opener.h"
#include "kit/address.h"
#include "kit/clock.h"

namespace netdyno::asio_worker {

using contract::ErrorKind;
using contract::Failure;

Connection::Connection(ClientLoop& loop, std::uint32_t number, Socket socket, std::span<Slot> slots,
                       const EchoPayload& payload)
    : loop_(loop),
      socket_(std::move(socket)),
      pipeline_(number, slots, payload, loop.agenda()),
      active_(!slots.empty()) {}

void Connection::begin() {
  pipeline_.begin(now_ns());
  flush();
  if (open()) read();
}

void Connection::send(std::uint32_t slot) {
  pipeline_.send(slot);
  flush();
}

void Connection::read() {
  const auto room = pipeline_.room();
  socket_.async_read_some(::asio::buffer(room.data(), room.size()),
                          [this](const std::error_code& error, std::size_t n) { received(error, n); });
}

void Connection::received(const std::error_code& error, std::size_t n) {
  if (!open()) return;
  if (error) return lose();
  pipeline_.received(n, now_ns());
  flush();
  if (open()) read();
  loop_.pace();
}

void Connection::flush() {
  while (!writing_ && pipeline_.unsent()) {
    const auto bytes = pipeline_.outgoing(now_ns());
    std::error_code error;
    const std::size_t n = socket_.write_some(::asio::buffer(bytes.data(), bytes.size()), error);
    if (error == ::asio::error::would_block) {
      writing_ = true;
      socket_.async_wait(Socket::wait_write, [this](const std::error_code& failed) {
        writing_ = false;
        if (!open()) return;
        failed ? lose() : flush();
      });
      return;
    }
    if (error) return lose();
    pipeline_.written(n);
  }
}

void Connection::lose() {
  std::error_code ignored;  // it is lost already
  socket_.close(ignored);
  pipeline_.abandon(ErrorKind::peer, now_ns());
  loop_.lost(*this);
}

void ClientLoop::add(Socket socket, std::span<Slot> slots, const EchoPayload& payload) {
  const auto number = static_cast<std::uint32_t>(connections_.size());
  connections_.push_back(std::make_unique<Connection>(*this, number, std::move(socket), slots, payload));
  open_++;
  if (connections_.back()->active()) active_++;
}

void ClientLoop::run() {
  context_.restart();
  for (const auto& connection : connections_) connection->begin();
  pace();
  if (agenda_.held() > 0) context_.run();
}

void ClientLoop::end(std::int64_t closing) {
  ::asio::post(context_, [this, closing] {
    agenda_.end(closing);
    pace();
  });
}

void ClientLoop::pace() {
  if (agenda_.held() == 0) return context_.stop();
  const std::int64_t next = agenda_.next_due();
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
  // asio arms a timerfd, whose wake-up the kernel does not round; what it is
  // late is recorded as lag. Polling the rest would make an idle client look busy.
  timer_.expires_after(std::chrono::nanoseconds(wait));
  timer_.async_wait([this](const std::error_code& error) {
    if (!error) wake();  // otherwise armed anew for an earlier due
  });
}

/// Sends what is due; pace goes on from there.
void ClientLoop::wake() {
  armed_ = Agenda::kNever;
  while (agenda_.next_due() <= now_ns()) {
    const Agenda::Entry entry = agenda_.take();
    connections_[entry.connection]->send(entry.slot);
  }
  pace();
}

void ClientLoop::lost(const Connection& connection) {
  open_--;
  if (connection.active()) active_--;
  pace();
}

AsioClient::AsioClient(const contract::Setup& setup, Load& load)
    : load_(load), payload_(setup), wanted_(setup.load.connections) {
  require_descriptors(wanted_);
  const Opener opener(setup, payload_, load.lanes());
  std::vector<std::function<void()>> bodies;
  for (int lane = 0; lane < load.lanes(); lane++) {
    ClientLoop& loop = *loops_.emplace_back(std::make_unique<ClientLoop>());
    bodies.emplace_back([&, lane] {
      auto sockets = opener.open(loop.context(), lane);
      std::int64_t connection = lane;
      for (Socket& socket : sockets) {
        loop.add(std::move(socket), load.slots(connection), payload_);
        connection += load.lanes();
      }
    });
  }
  run_all(bodies, [this] { stop_loops(); });
}

contract::Ready AsioClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = wanted_;
  ready.threads = load_.lanes();
  return ready;
}

void AsioClient::run() {
  std::vector<std::function<void()>> bodies;
  for (const auto& loop : loops_) {
    bodies.emplace_back([this, &loop] {
      if (!closed_) loop->run();
    });
  }
  run_all(bodies, [this] { stop_loops(); });
  const auto active = [](std::int64_t sum, const auto& loop) { return sum + loop->active_connections(); };
  if (std::accumulate(loops_.begin(), loops_.end(), std::int64_t{0}, active) == 0 && !load_.ended()) {
    throw Failure(ErrorKind::peer, "run load: the peer closed every connection that carried it");
  }
}

void AsioClient::ended() {
  for (const auto& loop : loops_) loop->end(load_.closing());
}

void AsioClient::close() {
  closed_ = true;
  stop_loops();
}

void AsioClient::stop_loops() {
  for (const auto& loop : loops_) loop->context().stop();
}

std::int64_t AsioClient::connections() const {
  std::int64_t sum = 0;
  for (const auto& loop : loops_) sum += loop->open_connections();
  return sum;
}

}  // namespace netdyno::asio_worker
