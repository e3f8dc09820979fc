// A C++ owner for io_uring: one ring, the files registered with it, and the owners of its
// operations; its settings, beyond those of every transport over TCP.
//
// Layer: uring worker, bottom. Threads: any thread may build and destroy a ring. Only the thread
// inside run uses it, and only that one may submit to it (IORING_SETUP_SINGLE_ISSUER).
#pragma once

#include <liburing.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "kit/contract.h"
#include "kit/system.h"

namespace netdyno::uring_worker {

struct Settings {
  /// Submissions that a ring holds until they are handed to the kernel. Longer batches are
  /// no faster, and one batch of thousands of connections can overflow the queue of
  /// received packets (net.core.netdev_max_backlog).
  unsigned entries = 128;

  /// The settings in a setup, whose options are effective ones.
  static Settings of(const contract::Setup& setup);
};

/// Option entries.
std::vector<contract::Option> setting_options();

/// The kind of an operation. Its completion carries it.
enum class Op : std::uint8_t {
  receive,
  send,
  linked_send,  // completes only when it fails, and for the receive linked to it
  accept,
  wake,
  alarm,
};

struct Completion {
  Op op;
  int result;      // as of the system call; an error is negative
  unsigned flags;  // IORING_CQE_F_…

  /// Another completion of the same operation is to come.
  bool more() const { return (flags & IORING_CQE_F_MORE) != 0; }
};

/// Owns pending operations. Its address is aligned so that an Op fits into the low bits.
class alignas(8) Owner {
 public:
  virtual void completed(const Completion& completion) = 0;

 protected:
  ~Owner() = default;
};

/// A descriptor as a ring's operations name it. Registered files need no look-up.
struct File {
  int fd = -1;
  int slot = -1;  // in the ring's table; negative when that is full
};

class Ring : Pinned {
 public:
  static constexpr std::int64_t kNever = INT64_MAX;

  /// Throws Failure: unsupported where the kernel has no io_uring, forbids it, or
  /// has one older than Linux 6.0; setup where memory or files run out.
  explicit Ring(const Settings& settings);
  ~Ring();

  /// Calls body on this thread, which uses the ring from then on. When body has returned
  /// or thrown, calls leave, which may cancel operations. When run returns, no operation
  /// is pending: it searches for those that leave did not cancel, in time that grows with
  /// the square of their number. Call it once.
  void run(const std::function<void()>& body, const std::function<void()>& leave);

  /// Returns a submission to fill by an io_uring_prep function and to pass to submit. When
  /// the ring is full, hands earlier submissions to the kernel first.
  io_uring_sqe* prepare();
  /// Makes sure that n submissions fit, so that a link between them holds.
  void reserve(unsigned n);
  /// The submission goes to the kernel with the next wait, and its completion to owner.
  /// flags are IOSQE_… besides those that file needs.
  void submit(io_uring_sqe* submission, Owner& owner, Op op, unsigned flags = 0);
  void submit(io_uring_sqe* submission, const File& file, Owner& owner, Op op, unsigned flags = 0);

  /// Gives a pending timeout of owner another instant, which the kernel reads with the next
  /// submission. One that has expired meanwhile completes as it was.
  void hasten(const Owner& owner, Op op, __kernel_timespec& at);
  /// Cancels an operation of owner if it is pending.
  void cancel(const Owner& owner, Op op);

  /// Hands over what was submitted and waits until something completes.
  void wait();
  /// The same until until_ns, of now_ns, at the latest.
  void wait(std::int64_t until_ns);
  /// Hands over what was submitted and looks what has completed.
  void look();
  /// Passes all completions to their owners, but none that arrive meanwhile: with many
  /// connections it would never return. Returns whether there were any.
  bool deliver();

  /// Registers a descriptor, which stays the caller's.
  File keep(int fd);
  /// Unregisters a file that no pending operation uses.
  void forget(const File& file);

 private:
  void register_files();
  void note(const Completion& completion);
  void entered(int result);
  void cancel(std::uint64_t operation, unsigned flags);
  void drain();

  io_uring ring_{};
  std::vector<int> free_slots_;
  std::int64_t under_way_ = 0;  // pending operations
};

}  // namespace netdyno::uring_worker
