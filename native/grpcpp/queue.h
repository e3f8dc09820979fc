// Completion queues as this worker uses them: a tag is the address of an Event, and one
// thread takes the events of one queue.
//
// Layer: bottom of the grpcpp worker.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/completion_queue.h>

#include <cstdint>

#include "kit/agenda.h"

namespace netdyno::grpc_worker {

/// The target of a completion queue's tag. It is called once for each time that its tag was
/// passed to the library.
class Event {
 public:
  /// ok is the library's result of the operation.
  virtual void happened(bool ok) = 0;

 protected:
  ~Event() = default;
};

/// An event that calls a member function of its owner.
template <class Owner, void (Owner::*handle)(bool)>
class On final : public Event {
 public:
  explicit On(Owner& owner) : owner_(owner) {}
  On(const On&) = delete;
  On& operator=(const On&) = delete;

  void happened(bool ok) override { (owner_.*handle)(ok); }
  void* tag() { return static_cast<Event*>(this); }

 private:
  Owner& owner_;
};

/// Takes one event and calls it. False when until_ns (of now_ns) passed first, which the
/// library rounds up to a millisecond, or when the queue is shut down and empty.
inline bool take_event(grpc::CompletionQueue& queue, std::int64_t until_ns) {
  // The library's monotonic clock is the one of now_ns.
  const gpr_timespec until = until_ns == Agenda::kNever ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
                                                        : gpr_time_from_nanos(until_ns, GPR_CLOCK_MONOTONIC);
  void* tag = nullptr;
  bool ok = false;
  if (queue.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) return false;
  static_cast<Event*>(tag)->happened(ok);
  return true;
}

/// Shuts a queue down and calls its remaining events.
inline void drain(grpc::CompletionQueue& queue) {
  queue.Shutdown();
  while (take_event(queue, Agenda::kNever)) {
  }
}

}  // namespace netdyno::grpc_worker
