// Buffers that all connections of a loop receive into (option recv=multishot):
// the kernel takes one when bytes have come, and it is given back when they were
// used. An echo server keeps them while a client does not read; enough such
// clients keep all others waiting.
//
// liburing 2.3 can register such a ring but not make one.
//
// Layer: uring worker, above ring. Belongs to the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "uring/ring.h"

namespace netdyno::uring_worker {

/// Received bytes in a buffer of the kernel's choice.
struct Portion {
  std::uint16_t buffer;
  std::uint32_t from;
  std::uint32_t to;
};

class Buffers {
 public:
  static constexpr std::uint16_t kGroup = 0;
  /// Few, that are used again soon, and so stay in the cache.
  static constexpr std::uint16_t kCount = 128;
  static constexpr std::uint32_t kSize = 16 << 10;

  /// Registers the buffers with ring, which outlives them. Throws Failure{setup}.
  explicit Buffers(Ring& ring);

  /// Whether the kernel finds one, once all completions were delivered.
  bool any_free() const { return taken_ < kCount; }
  /// Takes over the buffer that a completed receive has filled.
  Portion take(const Completion& completion);
  std::span<const char> bytes(const Portion& portion) const;
  /// The kernel may fill the portion's buffer again.
  void give_back(const Portion& portion);

 private:
  struct Unmap {
    std::size_t size;
    void operator()(void* memory) const;
  };
  using Memory = std::unique_ptr<void, Unmap>;
  static Memory map(std::size_t size);

  void add(std::uint16_t buffer, int offset);

  Memory entries_;
  Memory memory_;
  std::uint16_t taken_ = 0;
};

}  // namespace netdyno::uring_worker
