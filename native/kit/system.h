// The clocks of a worker, descriptors and threads. Layer: bottom; any thread.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace netdyno {

/// What is neither copied nor assigned: others hold its address, or it owns what is not shared.
class Pinned {
 public:
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 protected:
  Pinned() = default;
  ~Pinned() = default;
};

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

/// CPU time in ns of the calling thread; a system call.
inline std::int64_t thread_cpu_ns() { return clock_detail::read(CLOCK_THREAD_CPUTIME_ID); }

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// Negative when it holds none.
  int get() const { return fd_; }
  /// Gives up ownership without closing it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// Names the calling thread, as profiles and `top -H` show it; at most 15 characters.
inline void name_thread(const std::string& name) { pthread_setname_np(pthread_self(), name.c_str()); }

/// Runs body(0) … body(n − 1) on a thread each, named "loop N", and waits for all.
/// When one throws, calls abort once to end the others, and rethrows its exception.
inline void run_all(std::size_t n, const std::function<void(std::size_t)>& body,
                    const std::function<void()>& abort) {
  std::exception_ptr first;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < n; i++) {
    threads.emplace_back([&, i] {
      name_thread("loop " + std::to_string(i));
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (first) return;
        first = std::current_exception();
        abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace netdyno
