// The options by which a client calls another's service. go-grpc has the same:
// internal/work/transport/gogrpc/ask.go.
//
// Layer: bottom of h2grpc, above http1/text. Plain values; any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kit/contract.h"

namespace netdyno::h2grpc {

/// What is compared in replies.
enum class Verify { content, length, status };

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

}  // namespace netdyno::h2grpc
