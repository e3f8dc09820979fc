// Content cut into the messages of a stream, and joined again.
//
// Layer: above payload. Chunks is immutable. A Chunker and a Joiner serve one exchange at
// a time.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exchange.pb.h"
#include "grpcpp/payload.h"

namespace netdyno::grpc_worker {

/// How one end splits what it sends.
struct Chunking {
  bool raw = false;        // chunks travel as raw messages, else in Blocks
  bool many = false;       // several messages; else one
  std::int64_t chunk = 0;  // bytes of a chunk, above 0
};

/// What all exchanges of an end share.
class Chunks {
 public:
  /// The direction's contents outlive it.
  Chunks(const Direction& direction, const Chunking& chunking);

  const Direction& direction() const { return direction_; }
  const Chunking& chunking() const { return chunking_; }
  /// The bytes that one message carries of size bytes.
  std::size_t step(std::size_t size) const;
  /// Message i of codec bytes.
  grpc::ByteBuffer message(std::size_t i) const;
  /// A message of a part of an encoding.
  grpc::ByteBuffer message(std::string_view part) const;

 private:
  Direction direction_;
  Chunking chunking_;
  /// Made once, because the content is the same in every exchange. A new string for each
  /// message would be one more copy.
  std::vector<netdyno::v1::Block> blocks_;
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
  std::int64_t take() const;
  /// Does what take does, and compares the content.
  std::int64_t verify() const;

 private:
  std::string_view whole() const { return {buffer_.get(), size_}; }
  void add(std::string_view part);
  std::unique_ptr<google::protobuf::Message> decoded() const;

  const Chunks& chunks_;
  std::unique_ptr<char[]> buffer_;  // of the expected size
  std::size_t size_ = 0;
};

}  // namespace netdyno::grpc_worker
