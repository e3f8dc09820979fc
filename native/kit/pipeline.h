// One connection's exchanges on a wire that answers in order: which bytes go
// out next, where the bytes that come in belong, and whose exchange is
// complete. It moves no bytes itself; an event loop does:
//
//   pipeline.begin(now_ns());
//   while (pipeline.unsent()) pipeline.written(write(fd, pipeline.outgoing(now_ns())));
//   pipeline.received(read(fd, pipeline.room()), now_ns());   // then write again
//
// Tell written before any answer can be read: an asynchronous write whose
// completion comes after the answer's would make the answer look unasked for.
//
// Layer: above load, agenda, echo. Belongs to one loop's thread, as the slots
// do. Allocates once, in begin.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kit/agenda.h"
#include "kit/echo.h"
#include "kit/load.h"

namespace netdyno {

class Pipeline {
 public:
  /// number is the connection's in the loop's numbering. payload and agenda
  /// outlive the pipeline.
  Pipeline(std::uint32_t number, std::span<Slot> slots, const EchoPayload& payload, Agenda& agenda);

  /// Asks every slot for its first exchange. Once.
  void begin(std::int64_t now);

  /// The slot's time, which the agenda kept, has come.
  void send(std::uint32_t slot) { flights_[queued_++ & mask_].slot = slot; }

  /// Whether bytes wait to be written.
  bool unsent() const { return rest_ > 0 || begun_ < queued_; }
  /// The bytes to hand to the kernel now; messages that begin in them count as
  /// sent now.
  std::span<const char> outgoing(std::int64_t now);
  /// The kernel took the first n of them.
  void written(std::size_t n);

  /// Where the next bytes go; a message is always contiguous there.
  std::span<char> room() { return {buffer_.get() + filled_, capacity_ - filled_}; }
  /// n bytes arrived in room() at now: completes exchanges and asks their slots
  /// for the next. Throws Failure{invalid} for bytes that nobody asked for.
  void received(std::size_t n, std::int64_t now);

  /// The connection is lost: each exchange in flight fails with kind, every
  /// slot is let go.
  void abandon(contract::ErrorKind kind, std::int64_t now);

 private:
  struct Flight {
    std::uint32_t slot = 0;
    std::int64_t sent = 0;
  };

  void ask(std::uint32_t slot, std::int64_t now);

  std::uint32_t number_;
  std::span<Slot> slots_;
  const EchoPayload& payload_;
  Agenda& agenda_;

  // A ring of exchanges in three stretches, by ever growing numbers:
  // answered_ ≤ begun_ ≤ queued_. Those from answered_ to begun_ are in flight.
  std::vector<Flight> flights_;
  std::uint64_t mask_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t queued_ = 0;

  std::size_t rest_ = 0;  // unwritten bytes of the message that began last
  std::size_t have_ = 0;  // bytes of the oldest exchange's answer
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace netdyno
