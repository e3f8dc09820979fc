// The content of a trial's exchanges, both ways: random bytes, or messages that protobuf
// encodes. Go counterpart: internal/work/codec.
//
// Layer: above random. Immutable after construction: any thread may use it.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>

#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// The content of one direction.
struct Content {
  std::string bytes;                                         // of codec bytes
  std::unique_ptr<const google::protobuf::Message> message;  // of codec proto; else null
  std::int64_t size = 0;                                     // of bytes, or of the encoded message
};

class Contents {
 public:
  /// The most bytes of one direction; checked before they are allocated.
  static constexpr std::int64_t kMaxBytes = 1 << 30;

  /// Throws Failure: setup for values that do not fit their type, unsupported for a message
  /// that is not of netdyno.v1.
  explicit Contents(const contract::Exchange& exchange);

  /// Whether the codec encodes messages.
  bool structured() const { return up_.message != nullptr; }
  const Content& up() const { return up_; }
  const Content& down() const { return down_; }

 private:
  Content up_;
  Content down_;
};

}  // namespace netdyno::grpc_worker
