#include "uring/loop.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace netdyno::uring_worker {

using contract::ErrorKind;
using contract::Failure;

// The eventfd blocks, else the ring would not wait for it.
Waker::Waker(Ring& ring) : ring_(ring), fd_(eventfd(0, EFD_CLOEXEC)) {
  if (fd_.get() < 0) {
    throw Failure(ErrorKind::setup, std::string("make an eventfd: ") + std::strerror(errno));
  }
}

void Waker::wake() { eventfd_write(fd_.get(), 1); }

void Waker::arm() {
  io_uring_sqe* submission = ring_.prepare();
  io_uring_prep_read(submission, fd_.get(), &count_, sizeof count_, 0);
  ring_.submit(submission, *this, Op::wake);
}

void Waker::completed(const Completion&) {
  woken_ = true;
  arm();
}

void Alarm::set(std::int64_t at) {
  if (pending_ && at_ <= at) return;
  __kernel_timespec& instant = pending_ ? sooner_ : first_;
  instant = {at / 1'000'000'000, at % 1'000'000'000};
  at_ = at;
  if (pending_) return ring_.hasten(*this, Op::alarm, instant);
  pending_ = true;
  io_uring_sqe* const submission = ring_.prepare();
  io_uring_prep_timeout(submission, &instant, 0, IORING_TIMEOUT_ABS);
  ring_.submit(submission, *this, Op::alarm);
}

void Alarm::cancel() {
  if (pending_) ring_.cancel(*this, Op::alarm);
}

namespace {

/// A shorter wait than this, in ns, gets a timer of its own: the kernel lets that be late by
/// as much (PR_SET_TIMERSLACK), and completions mostly end the wait before.
constexpr std::int64_t kSoon = 50'000;

}  // namespace

void Loop::turn(std::int64_t until_ns) {
  if (until_ns == Ring::kNever) {
    ring.wait();
  } else if (until_ns - now_ns() < kSoon) {
    ring.wait(until_ns);
  } else {
    alarm.set(until_ns);
    ring.wait();
  }
  ring.deliver();
}

bool Loop::look() {
  ring.look();
  return ring.deliver();
}

}  // namespace netdyno::uring_worker
