// One event loop of the asio worker's client: runs its connections, and wakes
// slots when they are due.
//
// Layer: asio worker. Threads as kit/ends.h says.
#pragma once

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
  /// Its sockets are used by its own thread alone, so asio need not lock them.
  AsioClientLoop() : context_(ASIO_CONCURRENCY_HINT_UNSAFE_IO), timer_(context_) {}

  void add(int fd, std::unique_ptr<Flow> flow, bool active) override;
  void run() override;
  void end(std::int64_t closing) override;
  void stop() override { context_.stop(); }

 private:
  using Line = Connection<AsioClientLoop>;
  friend Line;

  static std::int64_t now() { return now_ns(); }
  void moved() { pace(); }
  /// A server that breaks the wire's rules ends the trial.
  bool bears(const contract::Failure&) { return false; }
  void closed(Line& line);
  void over(Line&) {}  // kept: the agenda's numbers are places in the list

  /// Arms the timer for the agenda; after anything that may have changed it.
  void pace();
  void wake();

  ::asio::io_context context_;
  Timer timer_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<bool> carries_load_;       // by place
  std::int64_t armed_ = Agenda::kNever;  // the due that the timer or the poll is for
  bool polling_ = false;
};

}  // namespace netdyno::asio_worker
