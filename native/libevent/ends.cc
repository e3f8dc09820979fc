#include "libevent/ends.h"

#include <utility>

namespace netdyno::libevent_worker {

EventClientLoop::EventClientLoop() : waker_(base_, [this] { on_wake(); }), timer_(base_, [this] { due(); }) {}

void EventClientLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  LoopObserver& observer = *this;
  connections_.push_back(std::make_unique<Connection>(base_, Descriptor(fd), std::move(flow), observer));
  connections_.back()->index = connections_.size() - 1;
  opened(active);
}

void EventClientLoop::run() {
  for (const auto& connection : connections_) connection->begin();
  if (!failure_ && !stopped() && agenda().held() > 0) {
    arm();
    pace().polls() ? poll() : base_.run();
  }
  if (failure_) std::rethrow_exception(failure_);
}

/// Runs as the base does, and looks for events rather than sleep where the pace says so.
void EventClientLoop::poll() {
  while (!base_.left()) {
    base_.turn(false);
    if (!base_.left() && agenda().is_due(now_ns())) due();
    if (base_.left() || pace().looks_again(now_ns())) continue;
    base_.turn(true);
    pace().stirred(now_ns());
  }
}

void EventClientLoop::on_wake() {
  if (stopped()) return base_.leave();
  heed();
  arm();
}

void EventClientLoop::due() {
  armed_ = Agenda::kNever;
  send_due([this](std::size_t connection, std::uint32_t slot) { connections_[connection]->send(slot); });
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
  ClientLoop::lost(connection.index);
  arm();
}

void EventClientLoop::failed(Connection&, std::exception_ptr error) {
  failure_ = std::move(error);
  base_.leave();
}

Listener::Listener(const Base& base, Descriptor fd, std::function<void(int fd)> admit,
                   std::atomic<std::int64_t>& refused)
    : admit_(std::move(admit)),
      refused_(refused),
      pause_(base, [this] { evconnlistener_enable(listener_.get()); }),
      listener_(evconnlistener_new(
                    base.get(),
                    [](evconnlistener*, evutil_socket_t accepted, sockaddr*, int, void* self) noexcept {
                      static_cast<Listener*>(self)->admit_(accepted);
                    },
                    this, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd.get()),
                &evconnlistener_free) {
  if (!listener_)
    throw contract::Failure(contract::ErrorKind::setup, "make an evconnlistener: libevent gave none");
  [[maybe_unused]] const int listeners = fd.release();
  evconnlistener_set_error_cb(listener_.get(), [](evconnlistener* listener, void* self) noexcept {
    auto& failed = *static_cast<Listener*>(self);
    failed.refused_++;
    evconnlistener_disable(listener);
    failed.pause_.set(now_ns() + kAcceptPauseNs);
  });
}

EventServerLoop::EventServerLoop()
    : waker_(base_, [this] { on_wake(); }), rest_(base_, [this] {
        armed_ = Rests::kNever;
        wake_rested([](void* connection) { static_cast<Connection*>(connection)->rested(); });
        moved();
      }) {}

void EventServerLoop::arm() {
  armed_ = traffic.rests.next();
  rest_.set(armed_);
}

void EventServerLoop::listen(int listener, std::function<void(int fd)> admit) {
  listeners_.emplace_back(base_, Descriptor(listener), std::move(admit), refused);
}

void EventServerLoop::on_wake() {
  if (stopped()) return base_.leave();
  LoopObserver& observer = *this;
  for (Newcomer& newcomer : newcomers()) {
    keep(connections_,
         std::make_unique<Connection>(base_, std::move(newcomer.socket), std::move(newcomer.flow), observer))
        .begin();
  }
}

}  // namespace netdyno::libevent_worker
