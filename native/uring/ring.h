// io_uring as C++ owns it: one ring, the files registered with it, and who hears
// of which completion.
//
// Layer: uring worker, above settings. Threads: a ring is built and destroyed by
// any thread, but used by the one that is inside run, which alone may submit to
// it (IORING_SETUP_SINGLE_ISSUER).
#pragma once

#include <liburing.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "uring/settings.h"

namespace netdyno::uring_worker {

/// What an operation does; travels with it to its completion.
enum class Op : std::uint8_t {
  receive,
  send,
  linked_send,  // completes only when it fails, and for the receive linked to it
  accept,
  hear,
};

struct Completion {
  Op op;
  int result;      // as of the system call; an error is negative
  unsigned flags;  // IORING_CQE_F_…

  /// Another completion of the same operation is to come.
  bool more() const { return (flags & IORING_CQE_F_MORE) != 0; }
  /// Tells only that the kernel is done with what was sent (IORING_OP_SEND_ZC).
  bool notification() const { return (flags & IORING_CQE_F_NOTIF) != 0; }
};

/// Who has operations under way. Its address has room for the Op.
class alignas(8) Owner {
 public:
  virtual void completed(const Completion& completion) = 0;

 protected:
  ~Owner() = default;
};

/// A descriptor as a ring's operations name it: registered files cost no look-up.
struct File {
  int fd = -1;
  int slot = -1;  // in the ring's table; negative when that is full
};

class Ring {
 public:
  static constexpr std::int64_t kNever = INT64_MAX;

  /// Throws Failure: unsupported where the kernel has no io_uring, forbids it, or
  /// has one older than Linux 6.0; setup where memory or files run out.
  explicit Ring(const Settings& settings);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Calls body on this thread, which the ring belongs to from then on; when body
  /// has returned or thrown, calls leave, which may cancel. Once it returns,
  /// nothing is under way any more: what was not cancelled by then is searched
  /// for, which takes the square of how much there is. Once.
  void run(const std::function<void()>& body, const std::function<void()>& leave);

  /// A submission to be filled by an io_uring_prep function and then sent with
  /// submit. Hands over those before it when the ring is full.
  io_uring_sqe* prepare();
  /// Makes sure that n submissions fit, so that a link between them holds.
  void make_room(unsigned n);
  /// The submission goes to the kernel with the next wait; owner hears of its
  /// completion. flags are IOSQE_… that file does not set.
  void submit(io_uring_sqe* submission, Owner& owner, Op op, unsigned flags = 0);
  void submit(io_uring_sqe* submission, const File& file, Owner& owner, Op op, unsigned flags = 0);

  /// Takes back an operation of owner's, if it is under way.
  void cancel(const Owner& owner, Op op);

  /// Hands over what was submitted and waits until something completes or
  /// until_ns, of now_ns, has come.
  void wait(std::int64_t until_ns);
  /// Tells owners of all that has completed, but not of what completes meanwhile:
  /// many connections would never let it return.
  void deliver();

  /// Registers a descriptor, which stays the caller's.
  File keep(int fd);
  /// Forgets a file, of which nothing is under way.
  void forget(const File& file);

  io_uring* get() { return &ring_; }

 private:
  void require_operations();
  void register_files();
  void note(const Completion& completion);
  void cancel(std::uint64_t operation, unsigned flags);
  void drain();

  io_uring ring_{};
  std::vector<int> free_slots_;
  std::int64_t under_way_ = 0;  // operations whose end is to be told
};

}  // namespace netdyno::uring_worker
