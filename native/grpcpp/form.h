// How an end's whole messages look in the library's hands: what it is given to
// send, and how what it received becomes an application's. Messages reach the
// library as its own buffers, which is where its generated code puts them too;
// so one that does not decode is seen as such on streams too, and the bytes
// received need no counting anew.
//
// Layer: above contents. Immutable after construction: any thread may use it.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "grpcpp/contents.h"

namespace netdyno::grpc_worker {

/// What came is not what was to come. The text says what was found and what was
/// expected; the code is the status that a server answers with.
class Refused : public std::runtime_error {
 public:
  Refused(grpc::StatusCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  grpc::StatusCode code() const { return code_; }

 private:
  grpc::StatusCode code_;
};

/// Which end it is, for directions and for the words of its errors.
struct Direction {
  const Payload& out;
  const Payload& in;
  const char* incoming;  // "request" or "reply"
};

class Form {
 public:
  virtual ~Form() = default;

  /// The message that this end sends, encoded afresh.
  virtual grpc::ByteBuffer outgoing() const = 0;
  /// Takes what was received as an application does, leaves in empty, and
  /// returns its payload bytes. Throws Refused.
  virtual std::int64_t take(grpc::ByteBuffer& in) const = 0;
  /// As take, and compares the content with what had to come. Throws Refused.
  virtual std::int64_t verify(grpc::ByteBuffer& in) const = 0;
};

/// The form of a trial's messages at one end. raw: codec bytes travels as the
/// message itself, else in a protobuf Block. The payloads outlive it.
std::unique_ptr<const Form> make_form(const Direction& direction, bool raw);

/// A message, encoded as the library's generated code does.
grpc::ByteBuffer encoded(const google::protobuf::Message& message);

/// Throws Refused unless bytes of a message are as many as were to come.
void require_size(const Direction& direction, std::size_t size);
/// Throws Refused unless the bytes are those that had to come.
void require_bytes(const Direction& direction, std::string_view bytes);
/// Throws Refused for a message that does not decode.
[[noreturn]] void refuse_undecodable(const Direction& direction);
/// Throws Refused unless the message has the values that had to come.
void require_values(const Direction& direction, const google::protobuf::Message& message);

}  // namespace netdyno::grpc_worker
