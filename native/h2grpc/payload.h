// Whole messages of gRPC at one end: five bytes of prefix, then the encoding. They are
// encoded and decoded anew in every exchange by protobuf's generated code, as programs do.
//
// Layer: above grpcpp/contents. Immutable after construction: any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "grpcpp/contents.h"

namespace netdyno::h2grpc {

/// gRPC's statuses that the wire speaks of (grpc/grpc, doc/statuscodes.md).
enum Code {
  ok = 0,
  cancelled = 1,
  invalid_argument = 3,
  deadline_exceeded = 4,
  resource_exhausted = 8,
  unimplemented = 12,
  internal = 13,
  unavailable = 14
};

/// What a message was found to be.
struct Taken {
  std::int64_t bytes = 0;  // of payload, where code is ok
  Code code = ok;          // else what a server answers with
  std::string why;
};

/// Bytes before each message: whether it is compressed, and its length.
inline constexpr std::size_t kPrefix = 5;
/// Writes the prefix of an uncompressed message of so many bytes.
void put_prefix(char* to, std::size_t size);
/// Bytes of the message behind a prefix.
std::size_t size_behind(std::string_view prefix);

/// Puts a message with its prefix into room, which only grows, behind what is there. Returns
/// where it ends. The message's size was bounded when the content was made.
std::size_t put_message(std::string& room, std::size_t at, const google::protobuf::Message& message);

class Payload {
 public:
  /// out is what this end sends, in what it receives, named incoming ("request" or "reply").
  /// Both outlive it.
  Payload(const grpc_worker::Content& out, const grpc_worker::Content& in, std::string incoming)
      : out_(out), in_(in), incoming_(std::move(incoming)) {}
  virtual ~Payload() = default;
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;

  /// The message that this end sends, with its prefix, perhaps composed in room.
  virtual std::string_view outgoing(std::string& room) const = 0;
  /// Takes the one message of a body.
  Taken take(std::string_view body) const;
  /// Takes a message without its prefix.
  virtual Taken decode(std::string_view message) const = 0;
  /// What is wrong with the content of such a message that was taken; empty if nothing is.
  virtual std::string compare(std::string_view message) const = 0;

  const std::string& incoming() const { return incoming_; }

 protected:
  Taken sized(std::size_t size) const;
  Taken undecodable() const;

  const grpc_worker::Content& out_;
  const grpc_worker::Content& in_;
  std::string incoming_;
};

/// raw: codec bytes travels as the message itself, else in a protobuf Block.
std::unique_ptr<const Payload> make_payload(const grpc_worker::Content& out, const grpc_worker::Content& in,
                                            const std::string& incoming, bool raw);

/// A client's message as it is, and any reply of the expected length, or of any at all.
std::unique_ptr<const Payload> make_raw_payload(const std::string& bytes, const grpc_worker::Content& in,
                                                bool any_length);

}  // namespace netdyno::h2grpc
