// The two clocks of a worker. Layer: bottom; any thread may call.
#pragma once

#include <cstdint>
#include <ctime>

namespace netdyno {

namespace clock_detail {
inline std::int64_t read(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}
}  // namespace clock_detail

/// Now in ns of CLOCK_MONOTONIC; about 25 ns where the vDSO serves it.
inline std::int64_t now_ns() { return clock_detail::read(CLOCK_MONOTONIC); }

/// CPU time in ns of this process, all threads; a system call.
inline std::int64_t process_cpu_ns() { return clock_detail::read(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace netdyno
