#include "libevent/server.h"

#include <utility>

#include "kit/clock.h"

namespace netdyno::libevent_worker {

namespace {

/// How long a listener rests after an accept that failed.
constexpr std::int64_t kPause = 10'000'000;

}  // namespace

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
    failed.pause_.set(now_ns() + kPause);
  });
}

EventServerLoop::EventServerLoop(Api api) : api_(api), waker_(base_, [this] { on_wake(); }) {}

void EventServerLoop::listen(int listener, std::function<void(int fd)> admit) {
  listeners_.emplace_back(base_, Descriptor(listener), std::move(admit), refused);
}

void EventServerLoop::adopt(int fd, std::unique_ptr<Flow> flow) {
  {
    const std::lock_guard lock(mutex_);
    newcomers_.push_back({Descriptor(fd), std::move(flow)});
  }
  waker_.wake();
}

void EventServerLoop::stop() {
  stopped_ = true;
  waker_.wake();
}

void EventServerLoop::on_wake() {
  if (stopped_) return base_.leave();
  std::vector<Newcomer> newcomers;
  {
    const std::lock_guard lock(mutex_);
    newcomers.swap(newcomers_);
  }
  for (Newcomer& newcomer : newcomers) {
    auto connection = make_connection(api_, base_, std::move(newcomer.fd), std::move(newcomer.flow), *this);
    Connection& adopted = *connections_.emplace_back(std::move(connection));
    adopted.index = connections_.size() - 1;
    adopted.begin();
  }
}

void EventServerLoop::lost(Connection& connection) {
  const std::size_t index = connection.index;
  std::swap(connections_[index], connections_.back());
  connections_[index]->index = index;
  connections_.pop_back();
}

}  // namespace netdyno::libevent_worker
