// One connection's part of a trial: which bytes to send next, and what the received
// bytes mean. A flow moves no bytes itself; an event loop does:
//
//   flow.begin(now_ns());
//   while (flow.unsent()) flow.written(write(fd, flow.outgoing(now_ns())));
//   while (!flow.read_buffer().empty()) flow.received(read(fd, flow.read_buffer()), now_ns());   // then
//   write again
//
// Call written before the answer to those bytes can be read. With asynchronous
// writes, the answer's completion may otherwise come first, and the answer would look
// unsolicited.
//
// Layer: above load, agenda. Only one loop's thread uses a flow. It allocates once,
// in begin.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kit/contract.h"
#include "kit/counters.h"
#include "kit/reasons.h"
#include "kit/system.h"

namespace netdyno {

class Flow {
 public:
  virtual ~Flow() = default;

  /// Starts the flow: a client's flow asks each of its slots for the first exchange.
  /// Call it once, before anything else.
  virtual void begin(std::int64_t now) = 0;

  /// The slot's next exchange is due, as the agenda says; or with Agenda::kWatch the instant is there for
  /// which the flow asked, and its fate may be another. Clients only.
  virtual void send(std::uint32_t slot) = 0;

  /// Whether bytes wait to be written.
  virtual bool unsent() const = 0;
  /// The bytes to hand to the kernel now, while unsent(). There are none where a peer must read on
  /// before the reply to what was just worked on may begin. Messages that begin in them count as sent now.
  /// They do not change until written is called.
  virtual std::span<const char> outgoing(std::int64_t now) = 0;
  /// How many messages in a row are the bytes that outgoing has just returned, those included: a
  /// library that moves whole messages may be given all of them at once, and then written.
  virtual std::size_t alike() const { return 1; }
  /// The kernel took the first n of them.
  virtual void written(std::size_t n) = 0;
  /// Whether the outgoing bytes never change. If so, written may be called before the
  /// kernel has taken them.
  virtual bool lasting() const { return false; }

  /// Where to read the next bytes to. Empty while nothing may be read; that can change
  /// once something was written.
  virtual std::span<char> read_buffer() = 0;
  /// How many bytes are sure to come before anything is to be answered: the rest of an exchange that
  /// has begun.
  virtual std::int64_t missing() const { return 0; }
  /// Whether what arrives now is only counted: then received may be told of bytes that
  /// are not in read_buffer(), and of more than it holds.
  virtual bool drops() const { return false; }
  /// n bytes arrived in read_buffer() at now. Throws Failure{invalid} for unsolicited
  /// bytes.
  virtual void received(std::size_t n, std::int64_t now) = 0;

  /// What becomes of the connection. A loop asks after it began the flow, and after bytes
  /// arrived or were written.
  enum class Fate {
    open,
    over,  // it ended in order, and is to be closed. A client's loop makes another one
           // once bytes wait to be written; a server's waits until all are written, and
           // destroys the flow
    lost,  // what came cannot be followed: close it and abandon the flow
  };
  virtual Fate fate() const { return Fate::open; }
  /// The peer ended or broke the connection at now. True when the flow does without: its
  /// fate is over then. Else it is lost.
  virtual bool ended(std::int64_t) { return false; }
  /// The connection that is made anew is there: the kernel took bytes to it, or brought some.
  virtual void made() {}
  /// Says with what errno the connection broke, 0 where the peer closed it, and why where
  /// that says more: call it before ended or abandon where that is known.
  void broke(int error, std::string why = {}) {
    error_ = error;
    why_ = std::move(why);
  }
  /// The errno; kUnknown where nobody said it.
  int error() const { return error_; }
  static constexpr int kUnknown = -1;
  /// Why the connection is gone, in words.
  std::string loss() const { return why_.empty() ? netdyno::loss(error_) : why_; }
  /// Another connection begins to be made in place of one that is over. Clients only.
  virtual void reopened(std::int64_t) {}

  /// The connection is lost: every exchange in flight fails with kind, and every slot
  /// is released.
  virtual void abandon(contract::ErrorKind kind, std::int64_t now) = 0;

  /// What the loop of a server knows the flow's connection by.
  virtual void belong(void* connection) { connection_ = connection; }
  void* connection() const { return connection_; }

 private:
  int error_ = kUnknown;
  std::string why_;
  void* connection_ = nullptr;
};

class ServerFlow;

/// Which flows of a server's loop rest before they answer, and until when.
class Rests {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void add(std::int64_t until, ServerFlow& flow) {
    heap_.push_back({until, &flow});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  /// When the next one is over; kNever for none.
  std::int64_t next() const { return heap_.empty() ? kNever : heap_.front().until; }
  /// A flow of which one is over at now, and removes it; nullptr for none.
  ServerFlow* take(std::int64_t now) {
    if (next() > now) return nullptr;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    ServerFlow* const flow = heap_.back().flow;
    heap_.pop_back();
    return flow;
  }
  /// The flow is no more.
  void forget(const ServerFlow& flow) {
    if (std::erase_if(heap_, [&flow](const Rest& rest) { return rest.flow == &flow; }) > 0)
      std::make_heap(heap_.begin(), heap_.end(), later);
  }

 private:
  struct Rest {
    std::int64_t until;
    ServerFlow* flow;
  };
  static bool later(const Rest& a, const Rest& b) { return a.until > b.until; }

  std::vector<Rest> heap_;
};

// What the server's flows of wires echo and stream share: one buffer, and counters.
//
// Only one loop's thread uses a Traffic and its flows; any thread may read the sums.

/// What one loop of a server has counted. Its flows update it. A connection counts as
/// open from its flow's begin to its flow's destruction.
struct Traffic {
  Sum received;
  Sum sent;
  Sum exchanges;        // whose last byte was sent
  Sum connections;      // open now
  Sum invalid;          // connections whose first message had the wrong content
  Rests rests;          // only the loop's thread
  bool blocks = false;  // the loop is one connection's thread, which may sleep
};

/// A server's flow. It records no times, so now may be 0 in every call.
class ServerFlow : public Flow, Pinned {
 public:
  /// size is the buffer's, in bytes, and so the most that one read takes.
  ServerFlow(std::size_t size, Traffic& traffic) : size_(size), traffic_(traffic) {}
  ~ServerFlow() override {
    if (buffer_) traffic_.connections.add(-1);
    if (rested_before_) traffic_.rests.forget(*this);
  }

  /// A rest is over. Bytes may wait to be written now, and more may be read.
  virtual void rested(std::int64_t) {}

  void begin(std::int64_t) override {
    buffer_ = std::make_unique_for_overwrite<char[]>(size_);
    traffic_.connections.add(1);
  }
  void send(std::uint32_t) override {}
  void abandon(contract::ErrorKind, std::int64_t) override {}

 protected:
  std::span<char> buffer() const { return {buffer_.get(), size_}; }
  Traffic& traffic() { return traffic_; }
  /// Has rested called at until.
  void rest(std::int64_t until) {
    rested_before_ = true;
    traffic_.rests.add(until, *this);
  }

 private:
  bool rested_before_ = false;
  std::size_t size_;
  std::unique_ptr<char[]> buffer_;
  Traffic& traffic_;
};

/// What a flow has to send, in two buffers in turn: while the kernel takes one, the other is filled. So
/// bytes that were handed out stay as they are until more are asked for.
///
/// Only one thread uses it.
class DoubleBuffer {
 public:
  /// Bytes that are gathered before they have to be sent.
  static constexpr std::size_t kGathered = 64 << 10;

  /// Where the next bytes are added.
  std::string& filling() { return next_; }
  bool has_room() const { return next_.size() < kGathered; }
  /// Whether nothing was added since it was made, or since all was sent and asked for again.
  bool empty() const { return going_.empty() && next_.empty(); }

  bool unsent() const { return !drained() || !next_.empty(); }
  /// Whether all that was handed out has been taken.
  bool drained() const { return at_ == going_.size(); }
  /// The bytes to be sent now. They stay as they are until it is called when drained.
  std::span<const char> outgoing() {
    if (drained()) {
      going_.clear();
      going_.swap(next_);
      at_ = 0;
    }
    return std::span<const char>(going_).subspan(at_);
  }
  void written(std::size_t n) { at_ += n; }

 private:
  std::string going_;  // handed out, of which at_ bytes were taken
  std::string next_;
  std::size_t at_ = 0;
};

}  // namespace netdyno
