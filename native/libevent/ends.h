// The event loops of transport libevent.
//
// Layer: libevent worker, above connection. Threads: as kit/ends.h says.
#pragma once

#include <event2/listener.h>

#include <atomic>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "kit/ends.h"
#include "kit/system.h"
#include "libevent/connection.h"

namespace netdyno::libevent_worker {

class EventClientLoop : public ClientLoop, private LoopObserver {
 public:
  EventClientLoop();

  void add(int fd, std::unique_ptr<Flow> flow, bool active) override;
  void run() override;

 private:
  void wake() override { waker_.wake(); }
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
  void due();
  /// Sets the timer for the agenda. Call it after anything that may have changed that.
  void arm();
  void poll();

  Base base_;
  Waker waker_;
  Timer timer_;
  std::vector<std::unique_ptr<Connection>> connections_;  // after base_: their events go first
  std::int64_t armed_ = Agenda::kNever;
  std::exception_ptr failure_;
};

/// A listening socket that accepts by evconnlistener.
class Listener : Pinned {
 public:
  Listener(const Base& base, Descriptor fd, std::function<void(int fd)> admit,
           std::atomic<std::int64_t>& refused);

 private:
  std::function<void(int fd)> admit_;
  std::atomic<std::int64_t>& refused_;
  Timer pause_;
  std::unique_ptr<evconnlistener, decltype(&evconnlistener_free)> listener_;
};

class EventServerLoop : public ServerLoop, private LoopObserver {
 public:
  EventServerLoop();

  void listen(int listener, std::function<void(int fd)> admit) override;
  void run() override { base_.run(); }

 private:
  void wake() override { waker_.wake(); }
  void lost(Connection& connection) override { drop(connections_, connection.index); }
  void failed(Connection& connection, std::exception_ptr) override { lost(connection); }
  void moved() override {
    if (traffic.rests.next() < armed_) [[unlikely]]
      arm();
  }
  /// Sets the timer for the flow that has rested first.
  void arm();
  std::int64_t now() const override { return 0; }
  /// Starts to serve adopted connections.
  void on_wake();

  Base base_;
  Waker waker_;
  Timer rest_;
  std::int64_t armed_ = Rests::kNever;  // the instant that it is for
  std::list<Listener> listeners_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace netdyno::libevent_worker
