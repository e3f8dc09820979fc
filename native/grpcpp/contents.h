// What an exchange of a trial carries, both ways: random bytes, or messages that
// protobuf encodes. The twin of internal/work/codec.
//
// Layer: above random. Immutable after construction: any thread may use it.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>

#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// What travels in one direction.
struct Payload {
  std::string bytes;                                         // of codec bytes
  std::unique_ptr<const google::protobuf::Message> message;  // of codec proto; else null
  std::int64_t size = 0;                                     // of bytes, or of the encoded message
};

class Contents {
 public:
  /// Bytes of one direction at most, before they are allocated.
  static constexpr std::int64_t kMaxBytes = 1 << 30;

  /// Throws Failure: setup for values that do not fit their type, unsupported
  /// for a message that is not of netdyno.v1.
  explicit Contents(const contract::Exchange& exchange);

  /// Whether the codec encodes messages.
  bool structured() const { return up_.message != nullptr; }
  const Payload& up() const { return up_; }
  const Payload& down() const { return down_; }

 private:
  Payload up_;
  Payload down_;
};

}  // namespace netdyno::grpc_worker
