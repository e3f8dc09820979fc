// The parts of an event loop on io_uring, for both ends: what wakes it besides its connections,
// and the buffers that these share.
//
// Layer: uring worker, above ring. Threads: as ring.h says, but for Waker::wake.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kit/system.h"
#include "uring/ring.h"

namespace netdyno::uring_worker {

/// Wakes a loop from another thread, by an eventfd that the ring reads. The loop keeps the
/// reason in its own fields. Several calls of wake may cause only one wake-up.
class Waker final : public Owner {
 public:
  /// Throws Failure{setup}.
  explicit Waker(Ring& ring);
  /// Any thread; does not block.
  void wake();
  /// Begins to wait for wake. Inside Ring::run.
  void arm();
  /// Whether wake was called since the last call of woken. Inside Ring::run.
  bool woken() { return std::exchange(woken_, false); }
  void completed(const Completion& completion) override;

 private:
  Ring& ring_;
  Descriptor fd_;
  std::uint64_t count_ = 0;
  bool woken_ = false;
};

/// Wakes a loop at an instant. It stays set while the loop waits for other things, so that
/// the kernel sets its timer once for each instant and not once for each wait.
class Alarm final : public Owner {
 public:
  explicit Alarm(Ring& ring) : ring_(ring) {}
  /// The loop wakes at an instant of now_ns, and perhaps once before. Inside Ring::run.
  void set(std::int64_t at);
  /// Inside Ring::run.
  void cancel();
  void completed(const Completion&) override { pending_ = false; }

 private:
  Ring& ring_;
  bool pending_ = false;
  std::int64_t at_ = 0;
  __kernel_timespec first_{};  // each until the kernel has read it
  __kernel_timespec sooner_{};
};

/// Received bytes in a buffer that the kernel chose.
struct Portion {
  std::uint16_t buffer;
  std::uint32_t from;
  std::uint32_t to;
};

/// Buffers that all connections of a loop receive into (option recv=multishot). The kernel takes
/// one when bytes arrive, and the loop returns it when it has used them. An echo server keeps a
/// buffer while its client does not read, so enough such clients block all others. liburing 2.3
/// can register such a ring of buffers but not allocate it.
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

class Connection;

struct Loop {
  /// Throws as Ring does.
  explicit Loop(const Settings& chosen);

  Settings settings;
  Ring ring;
  Waker waker{ring};
  Alarm alarm{ring};
  std::unique_ptr<Buffers> buffers;  // null: single receives
  std::vector<Connection*> starved;  // wait for a shared buffer to receive into

  /// Waits until until_ns of now_ns at the latest, or for ever (Ring::kNever), and passes
  /// completions to their owners.
  void turn(std::int64_t until_ns);
  /// Passes what has completed to its owners, and does not wait. Whether anything had.
  bool look();

 private:
  bool deliver();
};

}  // namespace netdyno::uring_worker
