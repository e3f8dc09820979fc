// Buffers that all connections of a loop receive into (option recv=multishot). The kernel
// takes one when bytes arrive, and the loop returns it when it has used them. An echo
// server keeps a buffer while its client does not read, so enough such clients block all
// others.
//
// liburing 2.3 can register such a ring of buffers but not allocate it.
//
// Layer: uring worker, above ring. Only the loop's thread uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "uring/ring.h"

namespace netdyno::uring_worker {

/// Received bytes in a buffer that the kernel chose.
struct Portion {
  std::uint16_t buffer;
  std::uint32_t from;
  std::uint32_t to;
};

class Buffers {
 public:
  static constexpr std::uint16_t kGroup = 0;
  /// Few, so that they are soon used again and stay in the cache.
  static constexpr std::uint16_t kCount = 128;
  static constexpr std::uint32_t kSize = 16 << 10;

  /// Registers the buffers with ring, which outlives them. Throws Failure{setup}.
  explicit Buffers(Ring& ring);

  /// Whether the kernel finds a free buffer, once all completions were delivered.
  bool any_free() const { return taken_ < kCount; }
  /// Takes over the buffer that a completed receive has filled.
  Portion take(const Completion& completion);
  std::span<const char> bytes(const Portion& portion) const;
  /// Lets the kernel fill the portion's buffer again.
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
