#include "uring/client.h"

#include <utility>

#include "kit/clock.h"

namespace netdyno::uring_worker {

void UringClientLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  LoopObserver& observer = *this;
  connections_.push_back(
      std::make_unique<Connection>(loop_, observer, contract::Role::client, Descriptor(fd), std::move(flow)));
  connections_.back()->index = connections_.size() - 1;
  carries_load_.push_back(active);
  opened(active);
}

void UringClientLoop::run() {
  loop_.ring.run([this] { turns(); },
                 [this] {
                   loop_.alarm.cancel();
                   for (const auto& connection : connections_) connection->cancel();
                 });
}

void UringClientLoop::turns() {
  loop_.waker.arm();
  for (const auto& connection : connections_) connection->begin();
  bool ended = false;
  while (agenda().held() > 0 && !stopped_.load(std::memory_order_relaxed)) {
    wait();
    const std::int64_t closing = closing_.load(std::memory_order_relaxed);
    if (closing != Agenda::kNever && !std::exchange(ended, true)) agenda().end(closing);
    while (agenda().is_due(now_ns())) {
      const Agenda::Entry entry = agenda().take();
      connections_[entry.connection]->send(entry.slot);
    }
  }
}

/// Waits for events, and passes them on.
void UringClientLoop::wait() {
  if (pace().looks_again(now_ns())) {
    if (loop_.look()) pace().stirred(now_ns());
    return;
  }
  loop_.turn(pace().sleeps_until());
  pace().stirred(now_ns());
}

void UringClientLoop::end(std::int64_t closing) {
  closing_ = closing;
  loop_.waker.wake();
}

void UringClientLoop::stop() {
  stopped_ = true;
  loop_.waker.wake();
}

}  // namespace netdyno::uring_worker
