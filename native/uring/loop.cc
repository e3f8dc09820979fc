#include "uring/loop.h"

#include <sys/eventfd.h>

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

Loop::Loop(const Settings& chosen) : settings(chosen), ring(chosen) {
  if (settings.multishot) buffers = std::make_unique<Buffers>(ring);
}

void Loop::turn(std::int64_t until_ns) {
  ring.wait(until_ns);
  ring.deliver();
  if (starved.empty() || !buffers->any_free()) return;
  std::vector<Connection*> resumed;
  resumed.swap(starved);
  for (Connection* connection : resumed) connection->resume();
}

}  // namespace netdyno::uring_worker
