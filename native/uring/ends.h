// The event loops of the uring worker, for the workers of every wire.
//
// Layer: uring worker, top. Threads: as kit/ends.h says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kit/ends.h"
#include "uring/connection.h"
#include "uring/ring.h"

namespace netdyno::uring_worker {

class UringClientLoop final : public ClientLoop, private LoopObserver {
 public:
  /// Throws as Ring does.
  explicit UringClientLoop(const Settings& settings) : loop_(settings) {}

  void add(int fd, std::unique_ptr<Flow> flow, bool active) override;
  void run() override;

 private:
  void wake() override { loop_.waker.wake(); }
  void turns();
  void wait();
  void lost(Connection& connection) override { ClientLoop::lost(connection.index); }
  void released(Connection&) override {}
  Descriptor redial(Connection& connection) override { return ClientLoop::redial(connection.index); }
  void made(Connection& connection) override { ClientLoop::made(connection.index); }

  Loop loop_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

/// A listening socket that one submission accepts on until it fails.
class Acceptor final : public Owner {
 public:
  /// admit takes over accepted descriptors; refused counts failed accepts.
  Acceptor(Ring& ring, Descriptor listener, std::function<void(int fd)> admit,
           std::atomic<std::int64_t>& refused);

  /// Call this and the following only inside Ring::run.
  void accept();
  void completed(const Completion& completion) override;
  /// When to accept again after a failure, or kNever while it accepts.
  std::int64_t retry_at() const { return retry_at_; }

 private:
  Ring& ring_;
  Descriptor listener_;
  std::function<void(int fd)> admit_;
  std::atomic<std::int64_t>& refused_;
  std::int64_t retry_at_ = Ring::kNever;
};

class UringServerLoop final : public ServerLoop, private LoopObserver {
 public:
  /// Throws as Ring does.
  explicit UringServerLoop(const Settings& settings) : loop_(settings) {}

  void listen(int listener, std::function<void(int fd)> admit) override;
  void run() override;

 private:
  void wake() override { loop_.waker.wake(); }
  void turns();
  std::int64_t retry();
  void take_in();
  void lost(Connection&) override {}
  void released(Connection& connection) override { drop(connections_, connection.index); }

  Loop loop_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

inline Engine engine() { return Engine::of<UringServerLoop, UringClientLoop>(Settings::of); }

}  // namespace netdyno::uring_worker
