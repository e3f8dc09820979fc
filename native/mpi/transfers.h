// The messages that one rank has under way to the other and from it.
//
// Layer: above the library. One thread at a time.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "mpi/memory.h"

namespace netdyno::mpi_worker {

/// Messages that may be outstanding each way: the window of OSU's osu_bw.
constexpr std::size_t kOutstanding = 64;

/// Throws Failure{peer} for a code that is not MPI_SUCCESS, with the library's own words.
void check_mpi(int code, const char* call);

/// Messages that go out. Their bytes belong to the caller until they have gone.
class Sends {
 public:
  Sends(int other, bool blocking, Device device)
      : other_(other), blocking_(blocking), sources_(std::move(device)) {}

  bool full() const { return count_ == kOutstanding; }
  /// Not when it is full. In blocking mode the bytes have gone when it returns.
  void send(int tag, std::span<const char> bytes);
  /// Forgets the oldest messages that have gone. True when there were any.
  bool reap();

 private:
  int other_;
  bool blocking_;
  Sources sources_;
  std::array<MPI_Request, kOutstanding> requests_{};  // a ring
  std::size_t oldest_ = 0;
  std::size_t count_ = 0;
};

/// Messages that come in, in their order, by receives that were posted before.
///
/// All receives share one buffer, as those of OSU's programs do: whoever only counts
/// what arrives needs no more, and a buffer for each would measure the caches. While
/// somebody compares what arrives, only one receive is posted.
class Receives {
 public:
  Receives(int other, std::size_t max_message, bool blocking, Device device);
  Receives(const Receives&) = delete;
  Receives& operator=(const Receives&) = delete;

  struct Message {
    int tag;
    std::span<const char> bytes;  // valid until release; only their number, unless they are compared
  };
  /// The next message if it has arrived. Call release when it was looked at.
  std::optional<Message> take();
  void release();

  /// Whether a message must stay whole until it is released.
  void compare(bool yes);

  /// Takes back what is posted. What has begun to arrive still does, so that the buffer
  /// has to live until MPI is finalized.
  void withdraw();

 private:
  std::size_t wanted() const { return comparing_ ? 1 : kOutstanding; }
  void post();

  int other_;
  bool blocking_;
  bool comparing_ = true;
  Memory buffer_;
  std::array<MPI_Request, kOutstanding> requests_{};  // a ring
  std::size_t oldest_ = 0;
  std::size_t count_ = 0;
};

}  // namespace netdyno::mpi_worker
