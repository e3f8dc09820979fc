// What one end's calls carry, in brpc's hands: the message and the attachment
// that it sends, and what it makes of those that come. Go counterpart:
// internal/work/transport/brpc/content.go.
//
// Layer: above grpcpp/contents, which knows no gRPC. Immutable after
// construction: any thread may use it. No header here may be named as one of
// brpc's: <brpc/...> is looked for in this directory first.
#pragma once

#include <brpc/controller.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>

#include "grpcpp/contents.h"
#include "kit/contract.h"

namespace netdyno::brpc_worker {

class Content {
 public:
  /// Throws Failure: setup for what does not fit, unsupported for what this
  /// transport does not carry.
  explicit Content(const contract::Setup& setup);

  /// The method of netdyno.v1.Exchange that serves the trial.
  const google::protobuf::MethodDescriptor* method() const { return method_; }
  /// What this end sends, the same in every exchange.
  const google::protobuf::Message& outgoing() const { return *out_; }
  /// Appends what it sends beside the message; nothing is copied.
  void attach(butil::IOBuf& to) const;

  /// What became of a message that came.
  struct Taken {
    std::int64_t received = 0;  // payload bytes
    std::string wrong;          // empty: nothing
  };
  /// Takes it as an application does: decoded, content whole and contiguous.
  Taken take(const google::protobuf::Message& in, const butil::IOBuf& attachment) const;
  /// Whether it is what our other end sends.
  bool same(const google::protobuf::Message& in, const butil::IOBuf& attachment) const;

  std::int64_t up_bytes() const { return contents_.up().size; }
  std::int64_t down_bytes() const { return contents_.down().size; }
  /// Whether a codec decides the sizes.
  bool structured() const { return contents_.structured(); }

 private:
  const grpc_worker::Content& coming() const { return at_server_ ? contents_.up() : contents_.down(); }
  const grpc_worker::Content& going() const { return at_server_ ? contents_.down() : contents_.up(); }

  grpc_worker::Contents contents_;
  bool at_server_;
  bool attached_;
  const google::protobuf::MethodDescriptor* method_;
  std::unique_ptr<const google::protobuf::Message> out_;
};

/// The service that both ends speak, generated code or not.
const google::protobuf::ServiceDescriptor* exchange_service();

/// An empty message of a type of exchange.proto.
std::unique_ptr<google::protobuf::Message> empty(const google::protobuf::Descriptor* type);

}  // namespace netdyno::brpc_worker
