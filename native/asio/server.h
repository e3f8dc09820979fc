// The server of transport asio: echoes whatever comes, one loop per thread.
//
// Layer: asio worker. Options: listener=shared has one accepting socket per port
// on one loop, which deals connections out in turn (even by construction);
// reuseport has one per port and loop, and the kernel deals by hash (no hop
// between loops, uneven for few connections).
//
// Threads: a ServerLoop and its sessions belong to the loop's thread; counts may
// be read by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "asio/loop.h"
#include "kit/tally.h"
#include "kit/worker.h"

namespace netdyno::asio_worker {

class ServerLoop;

/// One accepted connection: at any time either a read or a write is under way.
class Session {
 public:
  Session(ServerLoop& loop, Socket socket, std::size_t buffer);
  void read();

  std::size_t place = 0;  // in the loop's list

 private:
  void received(std::size_t n);
  void echo();

  ServerLoop& loop_;
  Socket socket_;
  std::size_t size_;
  std::unique_ptr<char[]> buffer_;
  std::size_t from_ = 0;  // buffer_[from_, to_) is still to be echoed
  std::size_t to_ = 0;
};

class ServerLoop {
 public:
  explicit ServerLoop(std::size_t buffer) : buffer_(buffer), context_(1) {}

  ::asio::io_context& context() { return context_; }
  void adopt(Socket socket);
  /// Destroys the session.
  void drop(Session& session);

  Sum received;
  Sum sent;
  Sum sessions;  // open now

 private:
  std::size_t buffer_;
  ::asio::io_context context_;
  std::vector<std::unique_ptr<Session>> sessions_;  // after context_: sockets go first
};

class AsioServer : public Server {
 public:
  /// Listens; throws Failure{setup} when it cannot.
  explicit AsioServer(const contract::Setup& setup);
  ~AsioServer() override;
  AsioServer(const AsioServer&) = delete;
  AsioServer& operator=(const AsioServer&) = delete;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  class Listener;

  void listen(const contract::Setup& setup);

  std::int64_t up_bytes_;
  std::set<::asio::ip::address> allow_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<ServerLoop>> loops_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::atomic<std::int64_t> accept_errors_{0};
  std::vector<std::thread> threads_;
};

}  // namespace netdyno::asio_worker
