// Unary calls of gRPC on streams of HTTP/2, wire grpc:netdyno.v1 (docs/wires.md): a message
// each way, then trailers with the status. Source: grpc/grpc, doc/PROTOCOL-HTTP2.md.
//
// Layer: above payload, h2/exchange.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "grpcpp/contents.h"
#include "h2/exchange.h"
#include "h2grpc/payload.h"
#include "kit/contract.h"

namespace netdyno::h2grpc {

class GrpcAsking final : public h2::Asking {
 public:
  /// contents outlive it. Throws Failure{setup} for addresses that are none.
  GrpcAsking(const contract::Setup& setup, const grpc_worker::Contents& contents);

  const h2::Fields& fields(std::int64_t connection, std::size_t) const override {
    return headers_[static_cast<std::size_t>(connection) % headers_.size()];
  }
  std::string_view body(std::string& room) const override { return payload_->outgoing(room); }
  void field(h2::Reply& reply, std::string_view name, std::string_view value) const override;
  bool data(h2::Reply& reply, std::string_view bytes) const override;
  h2::Verdict judge(const h2::Reply& reply) const override;
  std::string explain(const h2::Reply& reply) const override;
  std::string compare(const h2::Reply& reply) const override;
  std::size_t read_size(std::size_t in_flight) const override;

 private:
  std::unique_ptr<const Payload> payload_;
  std::int64_t most_;
  bool compare_;
  std::deque<h2::Fields> headers_;  // by route
};

class GrpcAnswering final : public h2::Answering {
 public:
  GrpcAnswering(const contract::Setup& setup, const grpc_worker::Contents& contents);

  void field(h2::Request& request, std::string_view name, std::string_view value) const override;
  bool data(h2::Request& request, std::string_view bytes) const override;
  void answer(h2::Request& request) const override;
  std::int64_t down_bytes() const override { return down_bytes_; }

 private:
  std::unique_ptr<const Payload> payload_;
  std::int64_t most_;
  std::int64_t down_bytes_;
  std::string path_;
  h2::Fields headers_;
  h2::Fields trailers_;
};

/// What a method of the service is called in a request.
std::string path_of(const contract::Exchange& exchange);

/// Bytes of the largest message that an end receives, as its option max_message says; 0
/// stands for 4 MiB, raised to what the exchange needs.
std::int64_t max_message(const contract::Setup& setup, const grpc_worker::Contents& contents);

}  // namespace netdyno::h2grpc
