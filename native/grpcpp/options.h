// The options of transport grpcpp, and their translation to the library's settings.
//
// Layer: above contents. Plain functions; any thread.
#pragma once

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <string>
#include <vector>

#include "grpcpp/contents.h"
#include "grpcpp/payload.h"
#include "kit/address.h"
#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// The options with their defaults.
std::vector<contract::Option> options();

/// The effective options: an absent receive limit is computed from the exchange. Throws
/// Failure{unsupported} for options that contradict the exchange.
contract::Options effective(const contract::Setup& setup, const Contents& contents);

/// The arguments of a client's channels. options are effective ones.
grpc::ChannelArguments channel_arguments(const contract::Options& options);
/// Configures a server. options are effective ones.
void configure(grpc::ServerBuilder& builder, const contract::Options& options);

/// Throws Failure{unsupported} unless the kernel chooses the route's source by itself: gRPC
/// connects from the address that the kernel chooses.
void require_own_source(const Route& route);

}  // namespace netdyno::grpc_worker
