#include "uring/loop.h"

#include <sys/eventfd.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "uring/connection.h"

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

Buffers::Buffers(Ring& ring)
    : entries_(map(kCount * sizeof(io_uring_buf))), memory_(map(std::size_t{kCount} * kSize)) {
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(entries_.get());
  registration.ring_entries = kCount;
  registration.bgid = kGroup;
  const int result = io_uring_register_buf_ring(ring.get(), &registration, 0);
  if (result < 0) {
    throw Failure(ErrorKind::setup, std::string("register buffers with io_uring: ") + std::strerror(-result));
  }
  auto* const entries = static_cast<io_uring_buf_ring*>(entries_.get());
  io_uring_buf_ring_init(entries);
  for (std::uint16_t buffer = 0; buffer < kCount; buffer++) add(buffer, buffer);
  io_uring_buf_ring_advance(entries, kCount);
}

void Buffers::Unmap::operator()(void* memory) const { munmap(memory, size); }

Buffers::Memory Buffers::map(std::size_t size) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw Failure(ErrorKind::setup,
                  "map " + std::to_string(size) + " bytes for buffers: " + std::strerror(errno));
  }
  return {memory, Unmap{size}};
}

std::span<const char> Buffers::bytes(const Portion& portion) const {
  const char* const buffer = static_cast<const char*>(memory_.get()) + std::size_t{portion.buffer} * kSize;
  return {buffer + portion.from, portion.to - portion.from};
}

Portion Buffers::take(const Completion& completion) {
  taken_++;
  return {static_cast<std::uint16_t>(completion.flags >> IORING_CQE_BUFFER_SHIFT), 0,
          static_cast<std::uint32_t>(completion.result)};
}

void Buffers::give_back(const Portion& portion) {
  taken_--;
  add(portion.buffer, 0);
  io_uring_buf_ring_advance(static_cast<io_uring_buf_ring*>(entries_.get()), 1);
}

void Buffers::add(std::uint16_t buffer, int offset) {
  char* const memory = static_cast<char*>(memory_.get()) + std::size_t{buffer} * kSize;
  io_uring_buf_ring_add(static_cast<io_uring_buf_ring*>(entries_.get()), memory, kSize, buffer,
                        io_uring_buf_ring_mask(kCount), offset);
}

namespace {

/// A shorter wait than this, in ns, gets a timer of its own: the kernel lets that be late by
/// as much (PR_SET_TIMERSLACK), and completions mostly end the wait before.
constexpr std::int64_t kSoon = 50'000;

/// Replies that are stamped wait as long as this, in ns, and for so many others.
constexpr std::int64_t kLate = 1'000'000;
constexpr unsigned kMany = 64;

}  // namespace

Loop::Loop(const Settings& chosen) : settings(chosen), ring(chosen) {
  if (settings.multishot) buffers = std::make_unique<Buffers>(ring);
}

void Loop::turn(std::int64_t until_ns) {
  if (until_ns == Ring::kNever) {
    ring.wait();
  } else if (settings.stamped && until_ns - now_ns() < kLate) {
    ring.wait(until_ns, kMany);
  } else if (until_ns - now_ns() < kSoon) {
    ring.wait(until_ns);
  } else {
    alarm.set(until_ns);
    ring.wait();
  }
  deliver();
}

bool Loop::look() {
  ring.look();
  return deliver();
}

bool Loop::deliver() {
  const bool any = ring.deliver();
  if (starved.empty() || !buffers->any_free()) return any;
  std::vector<Connection*> resumed;
  resumed.swap(starved);
  for (Connection* connection : resumed) connection->resume();
  return any;
}

}  // namespace netdyno::uring_worker
