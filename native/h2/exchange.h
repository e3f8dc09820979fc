// What the ends of one trial send and expect on streams of HTTP/2. Plain HTTP is one such
// protocol (h2/http.h), gRPC another (h2grpc/call.h).
//
// Layer: above session. Implementations are immutable after construction: any thread may
// use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "h2/fields.h"
#include "h2/session.h"
#include "kit/contract.h"

namespace netdyno::h2 {

/// A reply as it comes in.
struct Reply {
  int status = 0;          // of HTTP
  std::int64_t bytes = 0;  // of the body
  std::string kept;        // what the protocol needs of the body
  int code = -1;           // of gRPC; -1 while none came
  std::string message;     // beside it
  bool first = false;      // its content is compared

  void begin() {
    status = 0;
    bytes = 0;
    kept.clear();
    code = -1;
    message.clear();
  }
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
  virtual ~Asking() = default;

  /// The header of a connection's request at a turn. It stays as long as this object.
  virtual const Fields& fields(std::int64_t connection, std::size_t turn) const = 0;
  /// The body of a request, perhaps composed in room.
  virtual std::string_view body(std::string& room) const = 0;

  virtual void field(Reply& reply, std::string_view name, std::string_view value) const = 0;
  /// Takes a piece of a body. False when it is longer than is taken.
  virtual bool data(Reply& reply, std::string_view bytes) const = 0;
  virtual Verdict judge(const Reply& reply) const = 0;
  /// Why a reply is not taken.
  virtual std::string explain(const Reply& reply) const = 0;
  /// What is wrong with the content of a first reply that is taken; empty if nothing is.
  virtual std::string compare(const Reply& reply) const = 0;

  /// Bytes that one read of a connection takes at most, with so many exchanges in flight.
  virtual std::size_t read_size(std::size_t in_flight) const = 0;
};

/// A request as it comes in, and the answer to it.
struct Request {
  std::string method;  // as far as the protocol needs it
  std::string path;
  std::int64_t bytes = 0;  // of the body
  std::string kept;        // what the protocol needs of it

  const Fields* fields = nullptr;  // of the answer
  std::string_view body;
  const Fields* trailers = nullptr;
  bool right = false;         // else it is counted as invalid
  std::int64_t received = 0;  // payload bytes, where it is right
  Fields own_fields;          // of an answer to this request alone
  Fields own_trailers;
  std::string room;

  void begin() {
    method.clear();
    path.clear();
    bytes = 0;
    kept.clear();
    fields = trailers = nullptr;
    body = {};
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
  /// Takes a piece of a body. False when it is longer than is taken.
  virtual bool data(Request& request, std::string_view bytes) const = 0;
  /// The request is complete, or too long: sets the answer.
  virtual void answer(Request& request) const = 0;

  /// Payload bytes of the answer to a request that was right.
  virtual std::int64_t down_bytes() const = 0;
};

}  // namespace netdyno::h2
