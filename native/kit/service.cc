#include "kit/service.h"

#include <algorithm>
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
  // The thread's clock is a system call: it is read only when the time may be over, and what
  // it takes from one reading to the next belongs to the work.
  static const std::int64_t reading = [] {
    std::int64_t least = kWorkSecond;
    for (int i = 0; i < 100; i++) {
      const std::int64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      least = std::min(least, clock_ns(CLOCK_THREAD_CPUTIME_ID) - began);
    }
    return least;
  }();
  const std::int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns - reading;
  for (std::int64_t left = ns - reading; left > 0; left = end - clock_ns(CLOCK_THREAD_CPUTIME_ID)) {
    const std::int64_t until = clock_ns(CLOCK_MONOTONIC) + left;
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
