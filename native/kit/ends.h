// The two ends of a transport over TCP whose library has event loops: one loop
// per thread, connections spread over them. A library brings its loops, the kit
// the rest.
//
// Layer: above work, sockets. Threads: a loop is built, filled and destroyed by
// one thread while it does not run, and runs on its own; what any thread may
// call says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kit/agenda.h"
#include "kit/flow.h"
#include "kit/loops.h"
#include "kit/sockets.h"
#include "kit/work.h"
#include "kit/worker.h"

namespace netdyno {

/// One event loop of a client.
class ClientLoop {
 public:
  virtual ~ClientLoop() = default;

  /// Takes over a connected socket, and runs flow on it; before run. The
  /// connection's number in the agenda is how many were added before it. active
  /// tells whether it carries load; one that does not is watched for its end.
  virtual void add(int fd, std::unique_ptr<Flow> flow, bool active) = 0;
  /// Begins every flow, moves their bytes, and calls Flow::send when an entry of
  /// the agenda is due, until the agenda holds no slot or stop is called. A
  /// connection that breaks is closed, its flow abandoned as peer.
  virtual void run() = 0;
  /// Forgets what is due after closing (Agenda::end). Any thread.
  virtual void end(std::int64_t closing) = 0;
  /// Makes run return soon. Any thread.
  virtual void stop() = 0;

  Agenda& agenda() { return agenda_; }
  /// Connections open now. Any thread.
  std::int64_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  /// Of them, those that carry load; when it does not run.
  std::int64_t active_connections() const { return active_; }

 protected:
  /// Loops tell of each connection that was added and of each that was lost.
  void opened(bool active) {
    open_++;
    active_ += active ? 1 : 0;
  }
  void lost(bool active) {
    open_--;
    active_ -= active ? 1 : 0;
  }

 private:
  Agenda agenda_;
  std::atomic<std::int64_t> open_{0};
  std::int64_t active_ = 0;
};

/// Loops on threads of their own, named "loop N".
class LoopClient : public Client {
 public:
  /// Connects and verifies every connection; loop i drives lane i of load.
  LoopClient(const contract::Setup& setup, Load& load,
             const std::function<std::unique_ptr<ClientLoop>()>& make);
  /// The same for another wire than echo and stream, whose work it is.
  LoopClient(const contract::Setup& setup, Load& load,
             const std::function<std::unique_ptr<ClientLoop>()>& make, std::unique_ptr<const Work> work);
  ~LoopClient() override;

  contract::Ready ready() const override;
  void run() override { loops_.run(); }
  void ended() override { loops_.end(); }
  void close() override { loops_.close(); }
  std::int64_t connections() const override { return loops_.open_connections(); }

 private:
  std::unique_ptr<const Work> work_;
  std::int64_t wanted_;
  contract::Json options_;
  Loops<ClientLoop> loops_;
};

/// One event loop of a server.
class ServerLoop {
 public:
  virtual ~ServerLoop() = default;

  /// Accepts on a listening socket, which it takes over, with this loop's means,
  /// and hands each connection to admit, with a descriptor that becomes admit's.
  /// Before run.
  virtual void listen(int listener, std::function<void(int fd)> admit) = 0;
  /// Takes over a connected socket and runs flow on it, from its begin on. A
  /// connection that breaks, or whose flow throws Failure, is closed and its flow
  /// destroyed, on the loop's thread. Any thread.
  virtual void adopt(int fd, std::unique_ptr<Flow> flow) = 0;
  /// Runs until stop.
  virtual void run() = 0;
  /// Any thread.
  virtual void stop() = 0;

  Traffic traffic;
  /// Accepts that failed (out of files): counted, and tried again after 10 ms.
  std::atomic<std::int64_t> refused{0};
};

/// Option listener of every loop server: shared has one accepting socket per
/// port on one loop, which deals connections out in turn; reuseport one per port
/// and loop, and the kernel deals by hash.
contract::Option listener_option();
/// Option read_buffer: what one read takes at most, per connection.
contract::Option read_buffer_option();

/// A transport of wires echo and stream whose ends are LoopServer and LoopClient,
/// with the options that all of them have.
contract::Transport loop_transport(const std::string& name, const std::string& doc);

/// Loops on threads of their own. Serves from construction to destruction.
class LoopServer : public Server {
 public:
  /// Listens; throws Failure{setup} when it cannot.
  LoopServer(const contract::Setup& setup, const std::function<std::unique_ptr<ServerLoop>()>& make);
  /// The same for another wire than echo and stream, whose work it is.
  LoopServer(const contract::Setup& setup, const std::function<std::unique_ptr<ServerLoop>()>& make,
             std::unique_ptr<const Work> work);
  ~LoopServer() override;
  LoopServer(const LoopServer&) = delete;
  LoopServer& operator=(const LoopServer&) = delete;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  Allowed allowed_;
  std::unique_ptr<const Work> work_;
  contract::Json options_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<ServerLoop>> loops_;
  std::atomic<std::size_t> next_{0};  // whose turn it is, where one socket accepts for all
  std::vector<std::thread> threads_;
};

}  // namespace netdyno
