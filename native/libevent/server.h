// One event loop of the server of transport libevent.
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
#include "libevent/connection.h"

namespace netdyno::libevent_worker {

/// A listening socket that accepts by evconnlistener.
class Listener {
 public:
  Listener(const Base& base, Descriptor fd, std::function<void(int fd)> admit,
           std::atomic<std::int64_t>& refused);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  std::function<void(int fd)> admit_;
  std::atomic<std::int64_t>& refused_;
  Timer pause_;
  std::unique_ptr<evconnlistener, decltype(&evconnlistener_free)> listener_;
};

class EventServerLoop : public ServerLoop, private LoopObserver {
 public:
  explicit EventServerLoop(Api api);

  void listen(int listener, std::function<void(int fd)> admit) override;
  void adopt(int fd, std::unique_ptr<Flow> flow) override;
  void run() override { base_.run(); }
  void stop() override;

 private:
  struct Newcomer {
    Descriptor fd;
    std::unique_ptr<Flow> flow;
  };

  void lost(Connection& connection) override;
  void failed(Connection& connection, std::exception_ptr) override { lost(connection); }
  void moved() override {}
  std::int64_t now() const override { return 0; }
  /// Starts to serve adopted connections.
  void on_wake();

  const Api api_;
  Base base_;
  Waker waker_;
  std::list<Listener> listeners_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::mutex mutex_;
  std::vector<Newcomer> newcomers_;  // guarded by mutex_
  std::atomic<bool> stopped_{false};
};

}  // namespace netdyno::libevent_worker
