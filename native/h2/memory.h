// Memory of one session of nghttp2. The library asks for a few pieces for each stream and
// gives them back at its end; the C library's allocator keeps seven of a size for a thread,
// and a session has more streams than that. Here a piece that is given back is kept for the
// next that asks for its size, up to a bound.
//
// Layer: bottom of h2. Only who uses the session uses it; it never moves.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>

namespace netdyno::h2 {

class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// What the library asks by. This outlives whoever was given it.
  nghttp2_mem asked_by();

  /// As malloc and free, realloc and calloc.
  void* take(std::size_t size);
  void give_back(void* bytes);
  void* resize(void* bytes, std::size_t size);
  void* take_zeroed(std::size_t count, std::size_t size);

  /// Bytes that were given back and are kept.
  std::size_t kept() const { return kept_; }

 private:
  /// Sizes are rounded up to a multiple of this.
  static constexpr std::size_t kStep = 64;
  /// Larger pieces are not kept.
  static constexpr std::size_t kLargest = 1 << 10;
  /// The most that is kept, in bytes.
#ifdef NETDYNO_SANITIZED
  static constexpr std::size_t kMostKept = 0;  // so that a use after the end shows
#else
  static constexpr std::size_t kMostKept = 64 << 10;
#endif

  /// What stands before a piece while it is taken, and in it while it is kept.
  union alignas(std::max_align_t) Head {
    std::size_t size;  // of the piece, rounded
    Head* next;
  };

  std::array<Head*, kLargest / kStep + 1> free_{};  // by size in steps
  std::size_t kept_ = 0;
};

}  // namespace netdyno::h2
