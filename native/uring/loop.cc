#include "uring/loop.h"

#include "kit/clock.h"
#include "uring/connection.h"

namespace netdyno::uring_worker {

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
