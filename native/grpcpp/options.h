// The options of transport grpcpp, and their translation to the library's settings.
//
// Layer: above contents, methods. Plain functions; any thread.
#pragma once

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <string>
#include <vector>

#include "grpcpp/chunk.h"
#include "grpcpp/contents.h"
#include "grpcpp/methods.h"
#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// The options with their defaults.
std::vector<contract::Option> options();

/// The effective options: an absent receive limit is computed from the exchange. Throws
/// Failure{unsupported} for options that contradict the exchange.
contract::Json effective(const contract::Setup& setup, const Contents& contents);

/// How the setup's end splits what it sends.
Chunking chunking_of(const contract::Setup& setup);

/// The arguments of a client's channels. options are effective ones.
grpc::ChannelArguments channel_arguments(const contract::Json& options);
/// Configures a server. options are effective ones.
void configure(grpc::ServerBuilder& builder, const contract::Json& options);

}  // namespace netdyno::grpc_worker
