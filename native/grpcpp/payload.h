// Whole messages of one end: encoding for the library, and decoding what it received.
// Messages are passed as the library's own buffers, as its generated code does. So a
// message that does not decode is noticed on streams too, and the bytes received are
// already counted.
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

/// A received message is not the expected one. The text says what was found and what was
/// expected. The code is the status that a server answers with.
class Refused : public std::runtime_error {
 public:
  Refused(grpc::StatusCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  grpc::StatusCode code() const { return code_; }

 private:
  grpc::StatusCode code_;
};

/// What one end sends and receives, and how its errors name what it receives.
struct Direction {
  const Content& out;
  const Content& in;
  const char* incoming;  // "request" or "reply"
};

class Payload {
 public:
  virtual ~Payload() = default;

  /// The message that this end sends, newly encoded.
  virtual grpc::ByteBuffer outgoing() const = 0;
  /// Decodes what was received as an application does, leaves in empty, and returns the
  /// payload bytes. Throws Refused.
  virtual std::int64_t take(grpc::ByteBuffer& in) const = 0;
  /// Does what take does, and compares the content with the expected one. Throws Refused.
  virtual std::int64_t verify(grpc::ByteBuffer& in) const = 0;
};

/// The payload of a trial's messages at one end. raw: codec bytes travels as the message
/// itself, else in a protobuf Block. The direction's contents outlive it.
std::unique_ptr<const Payload> make_payload(const Direction& direction, bool raw);

/// A message, encoded as the library's generated code does.
grpc::ByteBuffer encoded(const google::protobuf::Message& message);

/// Throws Refused unless a message has the expected size.
void require_size(const Direction& direction, std::size_t size);
/// Throws Refused unless the bytes are the expected ones.
void require_bytes(const Direction& direction, std::string_view bytes);
/// Throws Refused for a message that does not decode.
[[noreturn]] void refuse_undecodable(const Direction& direction);
/// Throws Refused unless the message has the expected values.
void require_values(const Direction& direction, const google::protobuf::Message& message);

}  // namespace netdyno::grpc_worker
