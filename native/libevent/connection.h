// C++ owners for libevent's loop and events, and a way for other threads to wake a loop.
//
// Layer: libevent worker, bottom. Only one thread at a time uses a Base, its events and
// its Waker, so libevent is set up without locks. Any thread may call Waker::wake.
#pragma once

#include <event2/event.h>
#include <event2/event_struct.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kit/flow.h"
#include "kit/system.h"

namespace netdyno::libevent_worker {

/// An event_base without locks. Throws Failure{setup} when it cannot be made.
class Base : Pinned {
 public:
  Base();
  ~Base() { event_base_free(base_); }

  event_base* get() const { return base_; }
  /// Runs until leave is called or no event is left.
  void run();
  /// Runs what is ready. With sleeps it waits until something is.
  void turn(bool sleeps);
  bool left() const { return left_; }
  /// Makes run return after the callback that calls it.
  void leave() {
    left_ = true;
    event_base_loopbreak(base_);
  }

 private:
  event_base* base_;
  bool left_ = false;
};

/// A descriptor's event, stored inside its owner. event_new would allocate it elsewhere,
/// which costs one more cache line for each message.
class Watch : Pinned {
 public:
  /// what is EV_READ or EV_WRITE. The event is level-triggered and stays until stopped.
  Watch(const Base& base, int fd, short what, event_callback_fn call, void* with);
  ~Watch() { stop(); }

  /// Costs a system call when it was not started.
  void start();
  /// Costs a system call when it was started.
  void stop();
  bool started() const { return started_; }

 private:
  event event_;
  bool started_ = false;
};

/// Wakes a loop from another thread, by an eventfd. The owner keeps the reason in its own
/// fields. Several calls of wake may cause only one of on_wake, which must not throw.
class Waker {
 public:
  Waker(const Base& base, std::function<void()> on_wake);
  /// Any thread; does not block.
  void wake();

 private:
  void woken();

  Descriptor fd_;
  Watch watch_;
  std::function<void()> on_wake_;
};

/// Calls due at an instant, with the precision of a timerfd. libevent's own timers end at
/// whole milliseconds, as epoll_wait does. EVENT_BASE_FLAG_PRECISE_TIMER makes that µs, but
/// costs one more system call in every turn of the loop, with or without timers. This one
/// costs a system call to set and one when it is due. Source: libevent 2.1.12, epoll.c,
/// epoll_dispatch.
class Timer {
 public:
  Timer(const Base& base, std::function<void()> due);
  /// Calls due once, not before at on the clock of now_ns, and at once when at has passed.
  /// A second call of set replaces the instant. due must not throw.
  void set(std::int64_t at);

 private:
  Descriptor fd_;
  Watch watch_;
  std::function<void()> due_;
};

class Connection;

/// A loop, as its connections see it.
class LoopObserver {
 public:
  /// The connection broke, or the peer closed it. It may be destroyed here.
  virtual void lost(Connection& connection) = 0;
  /// The flow threw, because the peer broke the wire's rules. The connection may be
  /// destroyed here.
  virtual void failed(Connection& connection, std::exception_ptr error) = 0;
  /// Bytes were received: the agenda may have changed.
  virtual void moved() = 0;
  /// The time to pass to a flow. A server's flow needs none, so its loop saves reading the
  /// clock.
  virtual std::int64_t now() const = 0;

 protected:
  ~LoopObserver() = default;
};

/// One connection of either end, on a connected, non-blocking socket: an event says that its descriptor
/// is ready; it then reads into the flow's buffer and writes from it.
///
/// Belongs to its loop's thread. Never moves: libevent holds its address.
class Connection : Pinned {
 public:
  Connection(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer);

  /// Begins the flow, and begins to read.
  void begin();
  /// The slot's next exchange is due, as the agenda says. Clients only.
  void send(std::uint32_t slot);
  /// The flow has rested.
  void rested() {
    guarded([this] { flush(); });
  }
  /// Closes a lost connection of a client. The object stays, because the agenda refers to
  /// connections by number.
  void abandon();
  bool open() const { return open_; }

  std::size_t index = 0;  // among the observer's connections; for the observer to use

 private:
  void readable();
  /// Writes what is unsent, as far as possible. False when the connection is lost, and
  /// perhaps destroyed.
  bool flush();

  /// Calls work, and passes an exception to the observer: none may go through libevent's C
  /// code. Do not use this object afterwards, because the observer may destroy it.
  template <class Work>
  void guarded(Work work) {
    try {
      work();
    } catch (...) {
      observer_.failed(*this, std::current_exception());
    }
  }

  LoopObserver& observer_;
  std::unique_ptr<Flow> flow_;
  Descriptor fd_;
  Watch reading_;
  Watch writing_;  // started while the kernel takes no more bytes
  bool open_ = true;
};

}  // namespace netdyno::libevent_worker
