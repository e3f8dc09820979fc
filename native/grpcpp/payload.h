// Whole messages of one end: encoding for the library, and decoding what it received.
// Messages are passed as the library's own buffers, as its generated code does. So a
// message that does not decode is noticed on streams too, and the bytes received are
// already counted.
//
// Layer: above contents. Immutable after construction: any thread may use it.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "grpcpp/contents.h"

namespace netdyno::grpc_worker {

/// A received message is not the expected one. The text says what was found and what was
/// expected. The code is the status that a server answers with.
class Refused : public std::runtime_error {
 public:
  explicit Refused(const Taken& taken) : std::runtime_error(taken.why), code_(taken.code) {}
  grpc::StatusCode code() const { return static_cast<grpc::StatusCode>(code_); }

 private:
  Code code_;
};

/// The payload of a trial's messages at one end. Sent raw it is not copied, and received into
/// one contiguous piece of memory.
class Payload {
 public:
  /// raw: codec bytes travels as the message itself, else in a protobuf Block. The direction's
  /// contents outlive it.
  Payload(const Direction& direction, bool raw);

  /// The message that this end sends, newly encoded.
  grpc::ByteBuffer outgoing() const;
  /// Decodes what was received as an application does, leaves in empty, and returns the
  /// payload bytes. Throws Refused.
  std::int64_t take(grpc::ByteBuffer& in, bool compares = false) const;

 private:
  Judge judge_;
  const google::protobuf::Message* message_;  // that is sent; null: codec bytes
  v1::Block block_;
  std::optional<grpc::Slice> raw_;
};

// Content cut into the messages of a stream, and joined again. A Chunker and a Joiner serve one
// exchange at a time.

/// What all exchanges of an end share.
class Chunks {
 public:
  /// The direction's contents outlive it.
  Chunks(const Direction& direction, const Cutting& cutting);

  const Direction& direction() const { return direction_; }
  const Cutting& cutting() const { return cutting_; }
  /// Message i of codec bytes.
  grpc::ByteBuffer message(std::size_t i) const;
  /// A message of a part of an encoding.
  grpc::ByteBuffer message(std::string_view part) const;

 private:
  Direction direction_;
  Cutting cutting_;
  std::vector<v1::Block> blocks_;  // of codec bytes
};

class Chunker {
 public:
  explicit Chunker(const Chunks& chunks) : chunks_(chunks) {}

  /// Begins an exchange: encodes its message.
  void restart();
  /// Whether a message is left. Empty content is one empty message, so that the peer has
  /// one to wait for.
  bool more() const { return first_ || at_ < size_; }
  grpc::ByteBuffer next();

 private:
  const Chunks& chunks_;
  std::string encoded_;  // of codec proto
  std::size_t size_ = 0;
  std::size_t at_ = 0;
  bool first_ = true;
};

class Joiner {
 public:
  explicit Joiner(const Chunks& chunks);

  void restart() { size_ = 0; }
  /// Joins one message and leaves in empty. Throws Refused when it does not decode or
  /// exceeds the expected size.
  void add(grpc::ByteBuffer& in);
  /// Decodes the whole content as an application does and returns its size in bytes.
  /// Throws Refused.
  std::int64_t take(bool compares = false) const;

 private:
  void add(std::string_view part);

  const Chunks& chunks_;
  Judge judge_;
  std::unique_ptr<char[]> buffer_;  // of the expected size
  std::size_t size_ = 0;
};

}  // namespace netdyno::grpc_worker
