#include "uring/loop.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "uring/connection.h"

namespace netdyno::uring_worker {

using contract::ErrorKind;
using contract::Failure;

// Blocking, or the ring would not wait for it.
Bell::Bell(Ring& ring) : ring_(ring), fd_(eventfd(0, EFD_CLOEXEC)) {
  if (fd_.get() < 0) {
    throw Failure(ErrorKind::setup, std::string("make an eventfd: ") + std::strerror(errno));
  }
}

void Bell::ring() { eventfd_write(fd_.get(), 1); }

void Bell::hear() {
  io_uring_sqe* submission = ring_.prepare();
  io_uring_prep_read(submission, fd_.get(), &count_, sizeof count_, 0);
  ring_.submit(submission, *this, Op::hear);
}

void Bell::completed(const Completion&) {
  heard_ = true;
  hear();
}

Loop::Loop(const Settings& chosen) : settings(chosen), ring(chosen) {
  if (settings.multishot) buffers = std::make_unique<Buffers>(ring);
}

void Loop::turn(std::int64_t until_ns) {
  ring.wait(until_ns);
  ring.deliver();
  if (starving.empty() || !buffers->any_free()) return;
  std::vector<Connection*> fed;
  fed.swap(starving);
  for (Connection* connection : fed) connection->feed();
}

}  // namespace netdyno::uring_worker
