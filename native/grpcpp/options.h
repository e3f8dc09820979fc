// Every knob of transport grpcpp, and what it comes to.
//
// Layer: above contents. Plain functions; any thread.
#pragma once

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <string>
#include <vector>

#include "grpcpp/chunk.h"
#include "grpcpp/contents.h"
#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// The options, with the defaults of a user who sets nothing.
std::vector<contract::Option> options();

/// The options as they come to be: the receive limit with what the exchange
/// makes of an absent one. Throws Failure{unsupported} for options that
/// contradict the exchange.
contract::Json effective(const contract::Setup& setup, const Contents& contents);

/// How the end that setup describes cuts what it sends.
Cut cut_of(const contract::Setup& setup);

/// What a client's channels are made with. Options are effective ones.
grpc::ChannelArguments channel_arguments(const contract::Json& options);
/// Gives a server its options, effective ones.
void configure(grpc::ServerBuilder& builder, const contract::Json& options);

/// The methods that serve a trial, by their names in exchange.proto.
struct Methods {
  std::string unary;
  std::string talk;
  std::string chunks;  // empty when nothing travels in chunks
};
Methods methods_of(const contract::Exchange& exchange);
/// As gRPC calls a method: "/netdyno.v1.Exchange/Unary".
std::string full_name(const std::string& method);

}  // namespace netdyno::grpc_worker
