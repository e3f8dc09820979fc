// The content of one end's calls: the message and attachment that it sends, and the check
// of those that it receives.
//
// Layer: above grpcpp/contents, which does not depend on gRPC. Immutable after
// construction: any thread may use it. No header here may have the name of one of brpc's,
// because the compiler looks for <brpc/...> in this directory first.
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
  /// Throws Failure: setup for invalid values, unsupported for exchanges that this
  /// transport does not carry.
  explicit Content(const contract::Setup& setup);

  /// The method of netdyno.v1.Exchange for the trial's exchange.
  const google::protobuf::MethodDescriptor* method() const { return method_; }
  /// The message that this end sends in every exchange.
  const google::protobuf::Message& outgoing() const { return *out_; }
  /// Appends the attachment that this end sends, without a copy.
  void attach(butil::IOBuf& to) const;

  /// The result of checking a received message.
  struct Taken {
    std::int64_t received = 0;  // payload bytes
    std::string wrong;          // what is wrong with it; empty: nothing
  };
  /// Reads a message as an application does: decoded, with its content contiguous.
  Taken take(const google::protobuf::Message& in, const butil::IOBuf& attachment) const;
  /// Whether a message has the content that netdyno's other end sends.
  bool same(const google::protobuf::Message& in, const butil::IOBuf& attachment) const;

  std::int64_t up_bytes() const { return contents_.up().size; }
  std::int64_t down_bytes() const { return contents_.down().size; }
  /// Whether a codec other than bytes decides the sizes.
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

/// The descriptor of netdyno.v1.Exchange.
const google::protobuf::ServiceDescriptor* exchange_service();

/// An empty message of a type of exchange.proto.
std::unique_ptr<google::protobuf::Message> empty(const google::protobuf::Descriptor* type);

}  // namespace netdyno::brpc_worker
