// One event loop of the asio worker's client: runs its connections, and makes slots send
// when they are due.
//
// Layer: asio worker. Threads as kit/ends.h says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "asio/connection.h"
#include "asio/loop.h"
#include "kit/clock.h"
#include "kit/ends.h"

namespace netdyno::asio_worker {

class AsioClientLoop final : public ClientLoop {
 public:
  AsioClientLoop() : context_(kUnlocked), waker_(context_), timer_(context_) {}

  void add(int fd, std::unique_ptr<Flow> flow, bool active) override;
  void run() override;
  void end(std::int64_t closing) override;
  void stop() override;

 private:
  using ClientConnection = Connection<AsioClientLoop>;
  friend ClientConnection;

  static constexpr bool kRedials = true;
  Descriptor redial(ClientConnection& connection) { return ClientLoop::redial(connection.index); }
  static std::int64_t now() { return now_ns(); }
  void moved() { arm(); }
  /// A server that breaks the wire's rules ends the trial.
  bool tolerates(const contract::Failure&) { return false; }
  void closed(ClientConnection& connection);
  void released(ClientConnection&) {}  // kept: the agenda's numbers index connections_

  /// Arms the timer for the agenda. Call it after anything that may have changed that.
  void arm();
  void poll();
  void wake();
  /// Another thread has called end or stop.
  void woken();

  ::asio::io_context context_;
  Waker waker_;
  Timer timer_;
  std::vector<std::unique_ptr<ClientConnection>> connections_;
  std::vector<bool> carries_load_;       // by index
  std::int64_t armed_ = Agenda::kNever;  // the instant that the timer or the post is for
  bool posted_ = false;
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  std::atomic<bool> stopped_{false};
};

}  // namespace netdyno::asio_worker
