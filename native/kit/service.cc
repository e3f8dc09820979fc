#include "kit/service.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>

namespace netdyno {

namespace {

constexpr std::int64_t kWorkSecond = 1'000'000'000;  // in ns

std::int64_t clock_ns(clockid_t clock) {
  timespec at{};
  clock_gettime(clock, &at);
  return std::int64_t{at.tv_sec} * kWorkSecond + at.tv_nsec;
}

}  // namespace

void spend(std::int64_t ns) {
  if (ns <= 0) return;
  // The thread's clock is a system call: it is read only when the time may be over, and what
  // it takes from one reading to the next, the median of some, belongs to the work.
  static const std::int64_t reading = [] {
    std::array<std::int64_t, 101> took{};
    for (std::int64_t& each : took) {
      const std::int64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      each = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    }
    std::sort(took.begin(), took.end());
    return took[took.size() / 2];
  }();
  const std::int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns - reading;
  for (;;) {
    const std::int64_t left = end - clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (left <= reading / 2) return;  // nearer than the next reading could be
    // The next reading sees a time as much later as a reading takes, besides the wait.
    const std::int64_t until = clock_ns(CLOCK_MONOTONIC) + left - reading;
    while (clock_ns(CLOCK_MONOTONIC) < until) {
    }
  }
}

std::unique_ptr<Service> Service::of(const contract::Setup& setup) {
  if (!setup.work || setup.role != contract::Role::server) return nullptr;
  const std::string wrong = contract::wrong_table(setup.work->ns, contract::kMostWorkNs);
  if (!wrong.empty()) throw contract::Failure(contract::ErrorKind::setup, "work.ns: " + wrong);
  return std::unique_ptr<Service>(new Service(setup));
}

Service::Service(const contract::Setup& setup)
    : drawer_(setup.work->ns, setup.seed, DrawStream::work), sleeps_(setup.work->sleeps) {}

void Service::serve() {
  const std::int64_t ns = next();
  if (!sleeps_) return spend(ns);
  const std::int64_t end = clock_ns(CLOCK_MONOTONIC) + ns;
  const timespec until{end / kWorkSecond, end % kWorkSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace netdyno
