// What the ends of one trial send and expect on streams of HTTP/2. Plain HTTP is one such protocol
// (h2/work.h), gRPC another (h2grpc/call.h).
//
// A body goes out in one piece or in several, of which each is composed when the one before has gone. Most
// exchanges end with their stream. A protocol may have exchanges follow one another on a stream that stays
// open: then each is complete by what came of the body.
//
// Layer: above session. Implementations are immutable after construction: any thread may use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "h2/session.h"
#include "http1/kinds.h"
#include "kit/contract.h"
#include "kit/work.h"

namespace netdyno::h2 {

/// A body as it goes out.
struct Outgoing {
  std::size_t of = 0;      // class of the exchange, which begin is for
  std::string_view piece;  // what is sent next
  bool more = false;       // another piece follows it
  std::string room;        // a piece may be composed in it
  std::string encoded;     // what is cut into pieces, where it is made for the exchange
  std::size_t at = 0;      // how much of it has been composed
};

/// A body as it comes in. What each part is for is the protocol's to say.
struct Incoming {
  std::int64_t bytes = 0;     // of the body
  std::string kept;           // what is needed of it
  std::string joined;         // what its messages were joined to
  std::size_t left = 0;       // bytes that its message lacks
  std::size_t messages = 0;   // that began
  std::size_t whole = 0;      // exchanges that are complete and not yet counted
  std::int64_t received = 0;  // their payload bytes
  int fault = 0;              // what is wrong with it; 0 for nothing
  std::string why;            // in words

  void begin() {
    bytes = received = 0;
    kept.clear();
    joined.clear();
    left = messages = whole = 0;
    fault = 0;
    why.clear();
  }
};

/// A reply as it comes in.
struct Reply : Incoming {
  std::size_t of = 0;   // class of the exchange
  int status = 0;       // of HTTP
  int code = -1;        // of gRPC; -1 while none came
  std::string message;  // beside it
  bool first = false;   // its content is compared

  void begin() {
    Incoming::begin();
    status = 0;
    code = -1;
    message.clear();
  }
  /// Begins another one on the same stream.
  void follow() { Incoming::begin(); }
};

/// What became of a reply.
struct Verdict {
  std::int64_t received = 0;  // payload bytes
  bool taken = true;
  contract::ErrorKind kind = contract::ErrorKind::invalid;  // where it is not taken
};

/// The client's part.
class Asking {
 public:
  explicit Asking(const contract::Setup& setup) : load_(setup.load) {}
  virtual ~Asking() = default;

  const contract::Load& load() const { return load_; }
  /// The header of an exchange's request; own has it where it is of this exchange alone, and outlives
  /// the stream.
  virtual const Fields& fields(const http1::Turn& turn, std::optional<Fields>& /*own*/) const {
    return fields_[static_cast<std::size_t>(turn.connection) % fields_.size()];
  }
  /// The first exchange of a connection, and its exchange k, from 0, which is the slot's in flight.
  virtual http1::Turn first(std::int64_t connection) const { return {connection}; }
  virtual http1::Turn turn(std::int64_t connection, std::uint64_t k, Slot& /*slot*/) const {
    return {connection, k};
  }
  /// By which names paths are told apart, where several are asked for.
  virtual std::vector<std::string> paths() const { return {}; }
  /// Whether exchanges follow one another on a stream. Each is complete with the first of
  /// its reply's messages.
  virtual bool stays() const { return false; }
  /// Begins the body of an exchange: sets its first piece.
  virtual void begin(Outgoing& out) const = 0;
  /// Sets the next piece, where there is more.
  virtual void next(Outgoing& /*out*/) const {}

  virtual void field(Reply& reply, std::string_view name, std::string_view value) const = 0;
  /// Takes bytes of a body. False when they cannot be of a right one.
  virtual bool data(Reply& reply, std::string_view bytes) const = 0;
  virtual Verdict judge(const Reply& reply) const = 0;
  /// Throws Failure that says why a first reply is not taken, or what is wrong with its
  /// content; Deferred where the exchange may be made again.
  virtual void require(const Reply& reply, const http1::Turn& turn) const = 0;
  /// Why a reply is not taken, as a reason of failed exchanges: equal for equal causes.
  virtual std::string reason(const Reply& reply) const = 0;
  virtual Work::Repeats repeats() const = 0;

  /// Bytes that one read of a connection takes at most, with so many exchanges in flight.
  virtual std::size_t read_size(std::size_t in_flight) const = 0;

 protected:
  std::deque<Fields> fields_;  // by route

 private:
  contract::Load load_;
};

/// A request as it comes in, and the answer to it.
struct Request : Incoming {
  std::string method;  // as far as the protocol needs it
  std::string path;
  int way = -1;  // how the protocol takes it; -1 while it does not

  const Fields* fields = nullptr;    // of the answer
  const Fields* trailers = nullptr;  // after a body
  Outgoing out;
  bool right = false;  // else it is counted as invalid
  Fields own_fields;   // of an answer to this request alone
  Fields own_trailers;

  void begin() {
    Incoming::begin();
    method.clear();
    path.clear();
    way = -1;
    fields = trailers = nullptr;
    out.piece = {};
    out.more = false;
    right = false;
    own_fields.clear();
    own_trailers.clear();
  }
};

/// The server's part.
class Answering {
 public:
  virtual ~Answering() = default;

  virtual void field(Request& request, std::string_view name, std::string_view value) const = 0;
  /// Takes bytes of a body. False when they cannot be of a right one: answer says why.
  /// Where exchanges follow one another on a stream it adds those that are complete, and
  /// sets the answer's fields.
  virtual bool data(Request& request, std::string_view bytes) const = 0;
  /// The request is over, or cannot be right: sets how its stream ends. A right request
  /// that is one exchange is complete by this. The body of another answer is its first piece.
  virtual void answer(Request& request) const = 0;

  /// Begins the answer to an exchange that is complete: sets its first piece.
  virtual void begin(Request& request) const = 0;
  /// Sets the next piece, where there is more.
  virtual void next(Request& /*request*/) const {}
  /// Payload bytes of that answer.
  virtual std::int64_t down_bytes() const = 0;
};

}  // namespace netdyno::h2
