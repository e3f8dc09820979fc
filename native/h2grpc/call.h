// Wire grpc:netdyno.v1 (docs/wires.md) on streams of HTTP/2 for the kit's loop ends: messages each
// way, then trailers with the status; and its options, by which a client calls another's service,
// too. go-grpc has the same: internal/work/transport/gogrpc/ask.go. Source: grpc/grpc,
// doc/PROTOCOL-HTTP2.md.
//
// Layer: above body, h2/work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grpcpp/contents.h"
#include "h2/exchange.h"
#include "h2grpc/body.h"
#include "http1/options.h"
#include "kit/contract.h"
#include "kit/work.h"

namespace netdyno::h2grpc {

using http1::Verify;

std::vector<contract::Option> ask_options();

/// What a client calls, and with which request.
struct Ask {
  std::string method;  // with slashes, as HTTP/2 has it; empty: that of the trial's exchange
  std::vector<std::pair<std::string, std::string>> headers;  // as they travel
  std::string host;                                          // empty: the server's address
  std::optional<std::string> body;                           // the request, in place of random content
  Verify verify = Verify::content;

  /// Whether the service is that of exchange.proto.
  bool of_netdyno() const;
};

/// Reads a client's options. Throws Failure that names the option: setup, and unsupported for
/// options that contradict the exchange.
Ask ask_of(const contract::Setup& setup);

/// Calls of gRPC on streams of HTTP/2, wire grpc:netdyno.v1 (docs/wires.md): messages each way, then
/// trailers with the status. Source: grpc/grpc, doc/PROTOCOL-HTTP2.md.
class GrpcAsking final : public h2::Asking {
 public:
  /// contents outlive it. Throws Failure{setup} for addresses that are none, and as ask_of
  /// does.
  GrpcAsking(const contract::Setup& setup, const grpc_worker::Contents& contents);

  bool stays() const override { return stays_; }
  void begin(h2::Outgoing& out) const override { body_->begin(out); }
  void next(h2::Outgoing& out) const override { body_->next(out); }
  void field(h2::Reply& reply, std::string_view name, std::string_view value) const override;
  bool data(h2::Reply& reply, std::string_view bytes) const override { return body_->data(reply, bytes); }
  h2::Verdict judge(const h2::Reply& reply) const override;
  void require(const h2::Reply& reply, const http1::Turn&) const override;
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

  Payload payload_;
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

/// The options that both ends have, those of sockets, of HTTP/2 and of TLS included.
std::vector<contract::Option> options();

/// The description of a transport of this wire whose loops are doc's.
contract::Transport transport(const std::string& name, const std::string& doc);
/// The libraries of a worker of it, whose loops are of this one.
std::vector<contract::Library> libraries(contract::Library loops);

/// Throws Failure as h2::H2Work does: setup for values that do not fit their type, too,
/// unsupported for a message that is not built in, or for options that contradict the
/// exchange. The setup's options are complete.
std::unique_ptr<const Work> work_of(const contract::Setup& setup);

}  // namespace netdyno::h2grpc
