// The client of transport threads: a loop of the kit's for each connection, which is a
// thread that moves that connection's bytes.
// Layer: threads worker, above connection. Threads: as kit/ends.h says.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "kit/ends.h"
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
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Connection> connection_;
  bool works_ = false;
};

}  // namespace netdyno::threads_worker
