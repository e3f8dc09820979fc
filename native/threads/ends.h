// Both ends of transport threads. A client has a loop of the kit's for each connection, which is a
// thread that moves that connection's bytes; a server accepts on a thread for each port, and each
// connection has one of its own.
//
// Layer: threads worker, above connection. Threads: as kit/ends.h and kit/worker.h say.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kit/ends.h"
#include "kit/flow.h"
#include "kit/sockets.h"
#include "kit/system.h"
#include "kit/work.h"
#include "kit/worker.h"
#include "threads/connection.h"

namespace netdyno::threads_worker {

/// What the threads of one client share. Those without load watch their connections as
/// long as any other works.
class Shared {
 public:
  explicit Shared(const contract::Setup& setup) : manner(setup) {}

  const Manner manner;

  /// Before any thread runs.
  void join(bool works);
  void idles(Connection& connection) { idle_.push_back(&connection); }
  /// A thread that worked has ended. Any thread.
  void leave();

 private:
  std::atomic<int> working_{0};
  std::vector<Connection*> idle_;
};

class ThreadLoop final : public ClientLoop {
 public:
  explicit ThreadLoop(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  /// Only once: a loop has one connection.
  void add(int fd, std::unique_ptr<Flow> flow, bool active) override;
  void run() override;
  void end(std::int64_t closing) override { connection_->end(closing); }
  void stop() override { connection_->stop(); }

 private:
  void wake() override {}
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Connection> connection_;
  bool works_ = false;
};

/// The server of transport threads: one thread accepts on each port, and each connection has one of its own.
/// Threads: as kit/worker.h says.
class ThreadsServer final : public Server, Pinned {
 public:
  /// Listens and serves; throws Failure when it cannot.
  explicit ThreadsServer(const contract::Setup& setup);
  ~ThreadsServer() override;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  /// Room for one connection at a time, and what was counted of all that had it.
  struct Seat {
    Seat() { traffic.blocks = true; }

    Traffic traffic;
    std::unique_ptr<Connection> connection;  // null: the thread, if any, is over
    std::thread thread;
  };

  void accept(int listener);
  void serve(Descriptor socket);
  Seat* free_seat();
  void run(Seat& seat);

  Manner manner_;
  Allowed allowed_;
  std::unique_ptr<const Work> work_;
  contract::Options options_;
  std::size_t buffer_;
  std::vector<std::string> addresses_;
  std::vector<Descriptor> listeners_;
  std::vector<std::thread> acceptors_;
  std::atomic<std::int64_t> refused_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::vector<Seat> seats_;  // connections and threads are guarded by mutex_
};

}  // namespace netdyno::threads_worker
