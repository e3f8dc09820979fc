// The server of transport threads: one thread accepts on each port, and each connection
// has one of its own.
// Layer: threads worker, above connection. Threads: as kit/worker.h says.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kit/descriptor.h"
#include "kit/server_flow.h"
#include "kit/sockets.h"
#include "kit/work.h"
#include "kit/worker.h"
#include "threads/connection.h"

namespace netdyno::threads_worker {

class ThreadsServer final : public Server {
 public:
  /// Listens and serves; throws Failure when it cannot.
  explicit ThreadsServer(const contract::Setup& setup);
  ~ThreadsServer() override;
  ThreadsServer(const ThreadsServer&) = delete;
  ThreadsServer& operator=(const ThreadsServer&) = delete;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  /// Room for one connection at a time, and what was counted of all that had it.
  struct Seat {
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
  contract::Json options_;
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
