// Threads by name, and many at once. Layer: bottom; any thread.
#pragma once

#include <pthread.h>

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace netdyno {

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
