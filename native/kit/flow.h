// One connection's part of a trial: which bytes go out next, and where the bytes
// that come in belong. A flow moves no bytes itself; an event loop does:
//
//   flow.begin(now_ns());
//   while (flow.unsent()) flow.written(write(fd, flow.outgoing(now_ns())));
//   while (!flow.room().empty()) flow.received(read(fd, flow.room()), now_ns());   // then write again
//
// Tell written before anything that answers it can be read: an asynchronous
// write whose completion comes after the answer's would make the answer look
// unasked for.
//
// Layer: above load, agenda. Belongs to one loop's thread. Allocates once, in
// begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kit/contract.h"

namespace netdyno {

class Flow {
 public:
  virtual ~Flow() = default;

  /// Takes up its work: a client's asks each of its slots for the first
  /// exchange. Once, before anything else.
  virtual void begin(std::int64_t now) = 0;

  /// The slot's time, which the agenda kept, has come. Clients only.
  virtual void send(std::uint32_t slot) = 0;

  /// Whether bytes wait to be written.
  virtual bool unsent() const = 0;
  /// The bytes to hand to the kernel now, never empty while unsent(); messages
  /// that begin in them count as sent now. They stay as they are until written
  /// tells that they may change.
  virtual std::span<const char> outgoing(std::int64_t now) = 0;
  /// The kernel took the first n of them.
  virtual void written(std::size_t n) = 0;
  /// Whether what goes out never changes: then written may be told of bytes that
  /// the kernel has yet to take.
  virtual bool lasting() const { return false; }

  /// Where the next bytes go; empty while nothing may be read, until something
  /// was written.
  virtual std::span<char> room() = 0;
  /// n bytes arrived in room() at now. Throws Failure{invalid} for bytes that
  /// nobody asked for.
  virtual void received(std::size_t n, std::int64_t now) = 0;

  /// The connection is lost: what is in flight fails with kind, every slot is
  /// let go.
  virtual void abandon(contract::ErrorKind kind, std::int64_t now) = 0;
};

}  // namespace netdyno
