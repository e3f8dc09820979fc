// Calls of gRPC on streams of HTTP/2, wire grpc:netdyno.v1 (docs/wires.md): messages each way,
// then trailers with the status. Source: grpc/grpc, doc/PROTOCOL-HTTP2.md.
//
// Layer: above ask, body, chunks, grpcpp/methods, h2/exchange.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grpcpp/contents.h"
#include "h2/exchange.h"
#include "h2grpc/ask.h"
#include "h2grpc/body.h"
#include "h2grpc/payload.h"
#include "kit/contract.h"

namespace netdyno::h2grpc {

class GrpcAsking final : public h2::Asking {
 public:
  /// contents outlive it. Throws Failure{setup} for addresses that are none, and as ask_of
  /// does.
  GrpcAsking(const contract::Setup& setup, const grpc_worker::Contents& contents);

  const h2::Fields& fields(std::int64_t connection, std::size_t) const override {
    return headers_[static_cast<std::size_t>(connection) % headers_.size()];
  }
  bool stays() const override { return stays_; }
  void begin(h2::Outgoing& out) const override { body_->begin(out); }
  void next(h2::Outgoing& out) const override { body_->next(out); }
  void field(h2::Reply& reply, std::string_view name, std::string_view value) const override;
  bool data(h2::Reply& reply, std::string_view bytes) const override { return body_->data(reply, bytes); }
  h2::Verdict judge(const h2::Reply& reply) const override;
  void require(const h2::Reply& reply) const override;
  std::string reason(const h2::Reply& reply) const override;
  Work::Repeats repeats() const override {
    return verify_ == Verify::content ? Work::Repeats::none : Work::Repeats::refused;
  }
  std::size_t read_size(std::size_t in_flight) const override;

 private:
  bool goes_on(const h2::Reply& reply) const;
  std::string explain(const h2::Reply& reply) const;

  std::unique_ptr<const Payload> payload_;  // of whole messages; null where they are chunks
  std::unique_ptr<const Body> body_;
  bool stays_;
  Verify verify_;
  std::int64_t down_bytes_;
  std::deque<h2::Fields> headers_;  // by route
};

class GrpcAnswering final : public h2::Answering {
 public:
  GrpcAnswering(const contract::Setup& setup, const grpc_worker::Contents& contents);

  void field(h2::Request& request, std::string_view name, std::string_view value) const override;
  bool data(h2::Request& request, std::string_view bytes) const override;
  void answer(h2::Request& request) const override;
  void begin(h2::Request& request) const override { body(request).begin(request.out); }
  void next(h2::Request& request) const override { body(request).next(request.out); }
  std::int64_t down_bytes() const override { return down_bytes_; }

 private:
  /// A method that serves the trial.
  struct Method {
    std::string path;
    std::unique_ptr<const Body> body;
  };

  const Body& body(const h2::Request& request) const {
    return *methods_[static_cast<std::size_t>(request.way)].body;
  }
  void refuse(h2::Request& request, const Taken& taken) const;

  std::unique_ptr<const Payload> payload_;
  std::vector<Method> methods_;  // a request's way is its place among them
  std::string refusal_;
  std::int64_t down_bytes_;
  h2::Fields headers_;
  h2::Fields trailers_;
  h2::Fields nothing_;  // of a stream that ends right before anything was asked
};

/// Bytes of the largest message that an end receives, as its option max_message says; 0
/// stands for 4 MiB, raised to what the exchange needs, or to 1 GiB for replies of any length.
std::int64_t max_message(const contract::Setup& setup, const grpc_worker::Contents& contents);

}  // namespace netdyno::h2grpc
