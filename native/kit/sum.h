// A sum that one thread adds to.
//
// Layer: lowest of the kit.
#pragma once

#include <atomic>
#include <cstdint>

namespace netdyno {

/// A sum with one writer. Other threads may read it. Adding is a plain addition
/// without a locked instruction.
class Sum {
 public:
  void add(std::int64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

}  // namespace netdyno
