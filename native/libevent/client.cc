#include "libevent/client.h"

#include <utility>

namespace netdyno::libevent_worker {

EventClientLoop::EventClientLoop(Api api)
    : api_(api), waker_(base_, [this] { on_wake(); }), timer_(base_, [this] { wake(); }) {}

void EventClientLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  connections_.push_back(make_connection(api_, base_, Descriptor(fd), std::move(flow), *this));
  connections_.back()->index = carries_.size();
  carries_.push_back(active);
  opened(active);
}

void EventClientLoop::run() {
  for (const auto& connection : connections_) connection->begin();
  if (!failure_ && !stopped_ && agenda().held() > 0) {
    arm();
    pace().polls() ? poll() : base_.run();
  }
  if (failure_) std::rethrow_exception(failure_);
}

/// Runs as the base does, and looks for events rather than sleep where the pace says so.
void EventClientLoop::poll() {
  while (!base_.left()) {
    base_.turn(false);
    if (!base_.left() && agenda().is_due(now_ns())) wake();
    if (base_.left() || pace().looks_again(now_ns())) continue;
    base_.turn(true);
    pace().stirred(now_ns());
  }
}

void EventClientLoop::end(std::int64_t closing) {
  closing_ = closing;
  waker_.wake();
}

void EventClientLoop::stop() {
  stopped_ = true;
  waker_.wake();
}

void EventClientLoop::on_wake() {
  if (stopped_) return base_.leave();
  if (closing_ != Agenda::kNever) agenda().end(closing_);
  arm();
}

void EventClientLoop::wake() {
  armed_ = Agenda::kNever;
  while (agenda().is_due(now_ns())) {
    const Agenda::Entry entry = agenda().take();
    connections_[entry.connection]->send(entry.slot);
  }
  arm();
}

void EventClientLoop::arm() {
  if (agenda().held() == 0) return base_.leave();
  const std::int64_t next = pace().sleeps_until();
  if (next >= armed_ || (pace().polls() && next <= now_ns())) return;  // poll looks by itself
  armed_ = next;
  timer_.set(next);
}

void EventClientLoop::lost(Connection& connection) {
  if (!connection.open()) return;
  connection.abandon();
  ClientLoop::lost(carries_[connection.index]);
  arm();
}

void EventClientLoop::failed(Connection&, std::exception_ptr error) {
  failure_ = std::move(error);
  base_.leave();
}

}  // namespace netdyno::libevent_worker
