// Content cut into the messages of a stream, and joined again.
//
// Layer: above form. Chunks is immutable; a Cutter and a Joiner belong to one
// exchange at a time.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exchange.pb.h"
#include "grpcpp/form.h"

namespace netdyno::grpc_worker {

/// How one end cuts what it sends.
struct Cut {
  bool raw = false;        // chunks travel as they are, else in Blocks
  bool many = false;       // cut at all: else one message
  std::int64_t chunk = 0;  // bytes of a chunk, above 0
};

/// What all exchanges of an end have in common.
class Chunks {
 public:
  /// The size of a chunk where the trial names none.
  static constexpr std::int64_t kDefault = 64 << 10;

  /// The payloads outlive it.
  Chunks(const Direction& direction, const Cut& cut);

  const Direction& direction() const { return direction_; }
  const Cut& cut() const { return cut_; }
  /// Bytes of one message that carries part of size bytes.
  std::size_t step(std::size_t size) const;
  /// Message i of codec bytes.
  grpc::ByteBuffer message(std::size_t i) const;
  /// A message of a part of an encoding.
  grpc::ByteBuffer message(std::string_view part) const;

 private:
  Direction direction_;
  Cut cut_;
  /// Made once, as the content is the same in every exchange: a string of its
  /// own for each message would be one more copy.
  std::vector<netdyno::v1::Block> blocks_;
};

class Cutter {
 public:
  explicit Cutter(const Chunks& chunks) : chunks_(chunks) {}

  /// Begins an exchange: encodes afresh.
  void restart();
  /// Whether a message is left. Empty content is one empty message, so that
  /// there is one to wait for.
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
  /// Joins one message; in is left empty. Throws Refused for what does not
  /// decode or is more than had to come.
  void add(grpc::ByteBuffer& in);
  /// All came: takes it as an application does and returns its bytes. Throws
  /// Refused.
  std::int64_t take() const;
  /// As take, and compares the content.
  std::int64_t verify() const;

 private:
  std::string_view whole() const { return {room_.get(), size_}; }
  void add(std::string_view part);
  std::unique_ptr<google::protobuf::Message> decoded() const;

  const Chunks& chunks_;
  std::unique_ptr<char[]> room_;  // of the size that had to come
  std::size_t size_ = 0;
};

}  // namespace netdyno::grpc_worker
