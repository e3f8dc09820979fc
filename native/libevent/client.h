// One event loop of the client of transport libevent.
// Layer: libevent worker, above connection. Threads: as kit/ends.h says.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <vector>

#include "kit/clock.h"
#include "kit/ends.h"
#include "libevent/connection.h"

namespace netdyno::libevent_worker {

class EventClientLoop : public ClientLoop, private LoopObserver {
 public:
  explicit EventClientLoop(Api api);

  void add(int fd, std::unique_ptr<Flow> flow, bool active) override;
  void run() override;
  void end(std::int64_t closing) override;
  void stop() override;

 private:
  void lost(Connection& connection) override;
  void failed(Connection& connection, std::exception_ptr error) override;
  void moved() override {
    pace().stirred(now_ns());
    arm();
  }
  std::int64_t now() const override { return now_ns(); }

  /// Does what other threads asked for.
  void on_wake();
  /// Sends what is due, and then waits for the next slot.
  void wake();
  /// Sets the timer for the agenda. Call it after anything that may have changed that.
  void arm();
  void poll();

  const Api api_;
  Base base_;
  Waker waker_;
  Timer timer_;
  std::vector<std::unique_ptr<Connection>> connections_;  // after base_: their events go first
  std::vector<bool> carries_;                             // by connection
  std::int64_t armed_ = Agenda::kNever;
  std::exception_ptr failure_;
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  std::atomic<bool> stopped_{false};
};

}  // namespace netdyno::libevent_worker
