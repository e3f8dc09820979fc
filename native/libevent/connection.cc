#include "libevent/connection.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <system_error>

#include "kit/contract.h"
#include "kit/sockets.h"

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
/// Bytes that libevent buffers for one connection, each way. More are not handed over, or
/// not read, so that a bulk stream cannot fill the memory.
constexpr std::size_t kHeld = 256 << 10;

/// By readiness events (option api=event).
class Direct : public Connection {
 public:
  Direct(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer);

 protected:
  bool flush() override;
  void begin_reading() override {
    low_water_.set(fd_.get(), flow_->low_water());
    reading_.start();
  }
  void close() override;

 private:
  void readable();

  Descriptor fd_;
  LowWater low_water_;
  Watch reading_;
  Watch writing_;  // started while the kernel takes no more bytes
};

/// By bufferevents (option api=bufferevent), with libevent's own sizes of reads and writes. An
/// exchange counts as sent when it is in libevent's buffer.
class Buffered : public Connection {
 public:
  Buffered(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer);

 protected:
  bool flush() override;
  void go_on() override {
    if (flush()) readable();
  }
  void begin_reading() override;
  void close() override { events_.reset(); }

 private:
  void readable();

  std::unique_ptr<bufferevent, decltype(&bufferevent_free)> events_;
  LowWater low_water_;
};

}  // namespace

Direct::Direct(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer)
    : Connection(observer, std::move(flow)),
      fd_(std::move(fd)),
      reading_(
          base, fd_.get(), EV_READ,
          [](evutil_socket_t, short, void* self) {
            auto& connection = *static_cast<Direct*>(self);
            connection.guarded([&connection] { connection.readable(); });
          },
          this),
      writing_(
          base, fd_.get(), EV_WRITE,
          [](evutil_socket_t, short, void* self) {
            auto& connection = *static_cast<Direct*>(self);
            connection.guarded([&connection] {
              connection.writing_.stop();
              connection.flush();
            });
          },
          this) {}

void Direct::readable() {
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
  low_water_.set(fd_.get(), flow_->low_water());
  observer_.moved();
}

bool Direct::flush() {
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

void Direct::close() {
  reading_.stop();
  writing_.stop();
  fd_ = Descriptor();
}

Buffered::Buffered(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer)
    : Connection(observer, std::move(flow)),
      events_(bufferevent_socket_new(base.get(), fd.get(), BEV_OPT_CLOSE_ON_FREE), &bufferevent_free) {
  if (!events_) throw std::bad_alloc();  // the only reason to fail
  [[maybe_unused]] const int bufferevents = fd.release();
  bufferevent_setwatermark(events_.get(), EV_READ, 0, kHeld);
  bufferevent_setwatermark(events_.get(), EV_WRITE, kHeld / 4, 0);
  bufferevent_setcb(
      events_.get(),
      [](bufferevent*, void* self) {
        auto& connection = *static_cast<Buffered*>(self);
        connection.guarded([&connection] { connection.readable(); });
      },
      [](bufferevent*, void* self) {
        auto& connection = *static_cast<Buffered*>(self);
        connection.guarded([&connection] {
          if (connection.flush()) connection.readable();
        });
      },
      [](bufferevent*, short, void* self) {
        auto& connection = *static_cast<Buffered*>(self);
        connection.observer_.lost(connection);  // without timeouts this is an end or an error
      },
      this);
}

void Buffered::begin_reading() {
  low_water_.set(bufferevent_getfd(events_.get()), flow_->low_water());
  if (bufferevent_enable(events_.get(), EV_READ) != 0) {
    throw Failure(ErrorKind::setup, "enable a bufferevent: libevent refused it");
  }
}

void Buffered::readable() {
  evbuffer* input = bufferevent_get_input(events_.get());
  while (evbuffer_get_length(input) > 0) {
    const std::span<char> buffer = flow_->read_buffer();
    if (buffer.empty()) break;  // too much is unsent; the next write continues here
    const int n = evbuffer_remove(input, buffer.data(), buffer.size());
    flow_->received(static_cast<std::size_t>(n), observer_.now());
    if (!flush()) return;
  }
  low_water_.set(bufferevent_getfd(events_.get()), flow_->low_water());
  observer_.moved();
}

bool Buffered::flush() {
  const evbuffer* output = bufferevent_get_output(events_.get());
  while (flow_->unsent() && evbuffer_get_length(output) < kHeld) {
    std::span<const char> bytes = flow_->outgoing(observer_.now());
    bytes = bytes.first(std::min(bytes.size(), kHeld));
    if (bufferevent_write(events_.get(), bytes.data(), bytes.size()) != 0) {
      observer_.lost(*this);
      return false;
    }
    flow_->written(bytes.size());
  }
  return true;
}

void Connection::begin() {
  guarded([this] {
    flow_->begin(observer_.now());
    begin_reading();
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
  close();
  flow_->abandon(contract::ErrorKind::peer, observer_.now());
}

Api parse_api(const std::string& level) { return level == "bufferevent" ? Api::bufferevent : Api::event; }

std::unique_ptr<Connection> make_connection(Api api, const Base& base, Descriptor fd,
                                            std::unique_ptr<Flow> flow, LoopObserver& observer) {
  if (api == Api::bufferevent)
    return std::make_unique<Buffered>(base, std::move(fd), std::move(flow), observer);
  return std::make_unique<Direct>(base, std::move(fd), std::move(flow), observer);
}

}  // namespace netdyno::libevent_worker
