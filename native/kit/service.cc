#include "kit/service.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>

#include "kit/system.h"

namespace netdyno::contract {

std::string wrong_table(const Table& table, std::int64_t most) {
  if (table.empty() || table.size() > kMostSegments) {
    return std::to_string(table.size()) + " segments, expected 1 to " + std::to_string(kMostSegments);
  }
  std::int64_t last = 0;
  for (std::size_t i = 0; i < table.size(); i++) {
    const Segment& s = table[i];
    const std::string name = "segment " + std::to_string(i);
    if (s.end <= last || s.end > kTableEnd) {
      return name + " ends at " + std::to_string(s.end) + " after " + std::to_string(last) +
             ", expected rising ends up to 2^32";
    }
    if (s.low < 0 || s.high < s.low || s.high > most) {
      return name + " has the numbers " + std::to_string(s.low) + " to " + std::to_string(s.high) +
             ", expected them rising, from 0 to " + std::to_string(most);
    }
    last = s.end;
  }
  return last == kTableEnd ? "" : "the last segment does not end at 2^32";
}

}  // namespace netdyno::contract

namespace netdyno {

std::int64_t Drawer::draw(std::uint64_t n) const {
  const std::uint64_t u = output_at(base_, n);
  const auto ends_beyond = [](std::int64_t at, const contract::Segment& s) { return at < s.end; };
  const contract::Segment& s =
      *std::upper_bound(table_.begin(), table_.end(), static_cast<std::int64_t>(u >> 32), ends_beyond);
  const auto span = static_cast<std::uint64_t>(s.high - s.low) + 1;
  return s.low + static_cast<std::int64_t>((u & 0xffffffff) * span >> 32);
}

void spend(std::int64_t ns) {
  if (ns <= 0) return;
  // The thread's clock is a system call: it is read only when the time may be over, and what
  // it takes from one reading to the next, the median of some, belongs to the work.
  static const std::int64_t reading = [] {
    std::array<std::int64_t, 101> took{};
    for (std::int64_t& each : took) {
      const std::int64_t began = thread_cpu_ns();
      each = thread_cpu_ns() - began;
    }
    std::sort(took.begin(), took.end());
    return took[took.size() / 2];
  }();
  const std::int64_t end = thread_cpu_ns() + ns - reading;
  for (;;) {
    const std::int64_t left = end - thread_cpu_ns();
    if (left <= reading / 2) return;  // nearer than the next reading could be
    // The next reading sees a time as much later as a reading takes, besides the wait.
    const std::int64_t until = now_ns() + left - reading;
    while (now_ns() < until) {
    }
  }
}

void sleep_until(std::int64_t at) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec until{at / kSecond, at % kSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

std::unique_ptr<Service> Service::of(const contract::Setup& setup) {
  if (!setup.work || setup.role != contract::Role::server) return nullptr;
  const std::string wrong = contract::wrong_table(setup.work->ns, contract::kMostWorkNs);
  if (!wrong.empty()) throw contract::Failure(contract::ErrorKind::setup, "work.ns: " + wrong);
  return std::unique_ptr<Service>(new Service(setup));
}

Service::Service(const contract::Setup& setup)
    : drawer_(setup.work->ns, setup.seed, Drawer::kWork), sleeps_(setup.work->sleeps) {}

void Service::serve() {
  const std::int64_t ns = next();
  if (!sleeps_) return spend(ns);
  sleep_until(now_ns() + ns);
}

}  // namespace netdyno
