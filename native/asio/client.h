// The client of transport asio: connections spread over loops, one thread each.
//
// Layer: asio worker. AsioClient belongs to the kit's threads (worker.h); a
// ClientLoop and its Connections to the loop's thread while it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "asio/loop.h"
#include "kit/agenda.h"
#include "kit/echo.h"
#include "kit/pipeline.h"
#include "kit/worker.h"

namespace netdyno::asio_worker {

class ClientLoop;

/// One connection under load. Never moves: handlers hold its address.
class Connection {
 public:
  Connection(ClientLoop& loop, std::uint32_t number, Socket socket, std::span<Slot> slots,
             const EchoPayload& payload);

  /// Asks its slots, writes what is due and begins to read.
  void begin();
  /// A slot's time, kept by the agenda, has come.
  void send(std::uint32_t slot);
  bool open() const { return socket_.is_open(); }
  bool active() const { return active_; }

 private:
  void read();
  void received(const std::error_code& error, std::size_t n);
  /// Writes until nothing is unsent or the kernel takes no more.
  void flush();
  void lose();

  ClientLoop& loop_;
  Socket socket_;
  Pipeline pipeline_;
  bool active_;
  bool writing_ = false;  // waits until the kernel takes more
};

/// One event loop of the client: runs its connections, and wakes slots when due.
class ClientLoop {
 public:
  /// Its sockets are used by its own thread alone, so asio need not lock them.
  ClientLoop() : context_(ASIO_CONCURRENCY_HINT_UNSAFE_IO), timer_(context_) {}

  ::asio::io_context& context() { return context_; }
  Agenda& agenda() { return agenda_; }

  void add(Socket socket, std::span<Slot> slots, const EchoPayload& payload);
  /// Runs the load until every slot is let go or the context is stopped.
  void run();
  /// Forgets what is due after closing. Any thread.
  void end(std::int64_t closing);
  /// Arms the timer for the agenda; call after anything that may have changed it.
  void pace();
  void lost(const Connection& connection);

  /// Connections open now. Any thread.
  std::int64_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  /// Of them, those that carry load; after run.
  std::int64_t active_connections() const { return active_; }

 private:
  void wake();

  ::asio::io_context context_;
  Timer timer_;
  Agenda agenda_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::int64_t armed_ = Agenda::kNever;  // the due that the timer or the poll is for
  bool polling_ = false;
  std::atomic<std::int64_t> open_{0};
  std::int64_t active_ = 0;
};

class AsioClient : public Client {
 public:
  /// Connects and verifies every connection.
  AsioClient(const contract::Setup& setup, Load& load);

  contract::Ready ready() const override;
  void run() override;
  void ended() override;
  void close() override;
  std::int64_t connections() const override;

 private:
  void stop_loops();

  Load& load_;
  EchoPayload payload_;
  std::int64_t wanted_;
  std::vector<std::unique_ptr<ClientLoop>> loops_;
  std::atomic<bool> closed_{false};
};

}  // namespace netdyno::asio_worker
