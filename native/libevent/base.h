// C++ owners for libevent's loop and events, and a way for other threads to wake a loop.
//
// Layer: libevent worker, bottom. Only one thread at a time uses a Base, its events and
// its Waker, so libevent is set up without locks. Any thread may call Waker::wake.
#pragma once

#include <event2/event.h>
#include <event2/event_struct.h>

#include <cstdint>
#include <functional>

#include "kit/descriptor.h"

namespace netdyno::libevent_worker {

/// An event_base without locks. Throws Failure{setup} when it cannot be made.
class Base {
 public:
  Base();
  ~Base() { event_base_free(base_); }
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;

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
class Watch {
 public:
  /// what is EV_READ or EV_WRITE. The event is level-triggered and stays until stopped.
  Watch(const Base& base, int fd, short what, event_callback_fn call, void* with);
  ~Watch() { stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

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

}  // namespace netdyno::libevent_worker
