#include "libevent/connection.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <system_error>

#include "kit/contract.h"

namespace netdyno::libevent_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Checks the result of a system call that makes a descriptor.
int made(int fd, const char* what) {
  if (fd >= 0) return fd;
  throw Failure(ErrorKind::setup,
                std::string("make ") + what + ": " + std::generic_category().message(errno));
}

Failure gave_up() { return {ErrorKind::bug, "run an event_base: libevent gave up"}; }

event_base* make_base() {
  const std::unique_ptr<event_config, decltype(&event_config_free)> config(event_config_new(),
                                                                           &event_config_free);
  if (config) event_config_set_flag(config.get(), EVENT_BASE_FLAG_NOLOCK);
  event_base* base = config ? event_base_new_with_config(config.get()) : nullptr;
  if (base == nullptr) throw Failure(ErrorKind::setup, "make an event_base: libevent gave none");
  return base;
}

}  // namespace

Base::Base() : base_(make_base()) {}

void Base::run() {
  if (event_base_loop(base_, 0) < 0) throw gave_up();
}

void Base::turn(bool sleeps) {
  if (event_base_loop(base_, sleeps ? EVLOOP_ONCE : EVLOOP_NONBLOCK) < 0) {
    throw gave_up();
  }
}

Watch::Watch(const Base& base, int fd, short what, event_callback_fn call, void* with) {
  event_assign(&event_, base.get(), fd, static_cast<short>(what | EV_PERSIST), call, with);
}

void Watch::start() {
  if (started_) return;
  if (event_add(&event_, nullptr) != 0) {
    throw Failure(ErrorKind::setup, "watch a descriptor: libevent refused it");
  }
  started_ = true;
}

void Watch::stop() {
  if (!started_) return;
  event_del(&event_);
  started_ = false;
}

Waker::Waker(const Base& base, std::function<void()> on_wake)
    : fd_(made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "an eventfd")),
      watch_(
          base, fd_.get(), EV_READ,
          [](evutil_socket_t, short, void* self) noexcept { static_cast<Waker*>(self)->woken(); }, this),
      on_wake_(std::move(on_wake)) {
  watch_.start();
}

void Waker::wake() {
  const std::uint64_t one = 1;
  // It fails only when the counter is full: then the loop is being woken anyway.
  [[maybe_unused]] const ssize_t n = write(fd_.get(), &one, sizeof one);
}

void Waker::woken() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t n = read(fd_.get(), &rings, sizeof rings);  // how many is no matter
  on_wake_();
}

Timer::Timer(const Base& base, std::function<void()> due)
    : fd_(made(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "a timerfd")),
      watch_(
          base, fd_.get(), EV_READ,
          [](evutil_socket_t, short, void* self) noexcept {
            auto& timer = *static_cast<Timer*>(self);
            std::uint64_t times = 0;
            // It may have been set to a later instant during this turn: then there is
            // nothing to read.
            if (read(timer.fd_.get(), &times, sizeof times) > 0) timer.due_();
          },
          this),
      due_(std::move(due)) {
  watch_.start();
}

void Timer::set(std::int64_t at) {
  itimerspec when{};
  const std::int64_t instant = std::max<std::int64_t>(at, 1);  // 0 would disarm it
  when.it_value.tv_sec = instant / kSecond;
  when.it_value.tv_nsec = instant % kSecond;
  timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

namespace {

/// Reads, and writes, of one connection before the loop serves others. A bulk stream could
/// otherwise occupy the loop for ever.
constexpr int kAtOnce = 16;

}  // namespace

Connection::Connection(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer)
    : observer_(observer),
      flow_(std::move(flow)),
      fd_(std::move(fd)),
      reading_(
          base, fd_.get(), EV_READ,
          [](evutil_socket_t, short, void* self) {
            auto& connection = *static_cast<Connection*>(self);
            connection.guarded([&connection] { connection.readable(); });
          },
          this),
      writing_(
          base, fd_.get(), EV_WRITE,
          [](evutil_socket_t, short, void* self) {
            auto& connection = *static_cast<Connection*>(self);
            connection.guarded([&connection] {
              connection.writing_.stop();
              connection.flush();
            });
          },
          this) {
  flow_->belong(this);
}

void Connection::readable() {
  for (int i = 0; i < kAtOnce; i++) {
    const std::span<char> buffer = flow_->read_buffer();
    if (buffer.empty()) {
      reading_.stop();  // flush starts it again
      break;
    }
    const ssize_t n = recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) return observer_.lost(*this);
    flow_->received(static_cast<std::size_t>(n), observer_.now());
    if (!flush()) return;
    if (static_cast<std::size_t>(n) < buffer.size()) break;  // the kernel has no more
  }
  observer_.moved();
}

bool Connection::flush() {
  if (writing_.started()) return true;
  for (int i = 0; flow_->unsent(); i++) {
    if (i == kAtOnce) {
      writing_.start();
      break;
    }
    const std::span<const char> bytes = flow_->outgoing(observer_.now());
    const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      writing_.start();
      break;
    }
    if (n < 0) {
      observer_.lost(*this);
      return false;
    }
    flow_->written(static_cast<std::size_t>(n));
  }
  if (!reading_.started() && !flow_->read_buffer().empty()) reading_.start();
  return true;
}

void Connection::begin() {
  guarded([this] {
    flow_->begin(observer_.now());
    reading_.start();
    flush();
  });
}

void Connection::send(std::uint32_t slot) {
  guarded([this, slot] {
    flow_->send(slot);
    flush();
  });
}

void Connection::abandon() {
  open_ = false;
  reading_.stop();
  writing_.stop();
  fd_ = Descriptor();
  flow_->abandon(contract::ErrorKind::peer, observer_.now());
}

}  // namespace netdyno::libevent_worker
