// One event loop of the client of transport uring.
// Layer: uring worker, above connection. Threads: as kit/ends.h says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "kit/ends.h"
#include "uring/connection.h"

namespace netdyno::uring_worker {

class UringClientLoop final : public ClientLoop, private LoopObserver {
 public:
  /// Throws as Ring does.
  explicit UringClientLoop(const Settings& settings) : loop_(settings) {}

  void add(int fd, std::unique_ptr<Flow> flow, bool active) override;
  void run() override;
  void end(std::int64_t closing) override;
  void stop() override;

 private:
  void turns();
  void wait();
  void lost(Connection& connection) override { ClientLoop::lost(carries_load_[connection.index]); }
  void released(Connection&) override {}
  Descriptor redial(Connection& connection) override { return ClientLoop::redial(connection.index); }

  Loop loop_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<bool> carries_load_;  // by connection
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  std::atomic<bool> stopped_{false};
};

}  // namespace netdyno::uring_worker
