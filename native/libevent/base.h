// libevent's loop as C++ owns it, and how other threads reach one.
//
// Layer: libevent worker, bottom. A Base, its events and its Bell belong to one
// thread at a time; Bell::ring alone may be called by any. libevent is told so
// and locks nothing.
#pragma once

#include <event2/event.h>
#include <event2/event_struct.h>

#include <cstdint>
#include <functional>

#include "kit/descriptor.h"

namespace netdyno::libevent_worker {

/// An event_base without locks. Throws Failure{setup} when the kernel gives none.
class Base {
 public:
  Base();
  ~Base() { event_base_free(base_); }
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;

  event_base* get() const { return base_; }
  /// Turns until leave is called, or no event is left.
  void run();
  /// Makes run return after the callback that calls it.
  void leave() { event_base_loopbreak(base_); }

 private:
  event_base* base_;
};

/// A descriptor's event that lives where its owner does: event_new would put it
/// in a block of its own, one more line of cache for each message.
class Watch {
 public:
  /// what is EV_READ or EV_WRITE; it persists, level-triggered, until stopped.
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

/// Wakes a loop from another thread, by an eventfd. What it wakes for lies in
/// the owner's own fields; several rings may be one answer, which must not throw.
class Bell {
 public:
  Bell(const Base& base, std::function<void()> answer);
  /// Any thread; does not block.
  void ring();

 private:
  void heard();

  Descriptor fd_;
  Watch watch_;
  std::function<void()> answer_;
};

/// Calls at an instant, in ns. libevent's own timers end at whole milliseconds,
/// as epoll_wait does, or with EVENT_BASE_FLAG_PRECISE_TIMER in µs and for one
/// more system call in every turn of the loop, timers or not; this one costs
/// one to set and one to hear. Source: libevent 2.1.12, epoll.c, epoll_dispatch.
class Alarm {
 public:
  Alarm(const Base& base, std::function<void()> due);
  /// Calls once, not before at on the clock of now_ns; at once when that has
  /// passed. Setting it anew replaces the instant. due must not throw.
  void set(std::int64_t at);

 private:
  Descriptor fd_;
  Watch watch_;
  std::function<void()> due_;
};

}  // namespace netdyno::libevent_worker
