// The work of wire grpc:netdyno.v1 for the kit's loop ends, and its options.
//
// Layer: above call, h2/work.
#pragma once

#include <memory>
#include <vector>

#include "grpcpp/contents.h"
#include "kit/contract.h"
#include "kit/work.h"

namespace netdyno::h2grpc {

/// The options that both ends have, those of sockets, of HTTP/2 and of TLS included.
std::vector<contract::Option> options();

/// Throws Failure: setup for values that do not fit their type, unsupported for a message
/// that is not built in, or for options that contradict the exchange.
std::shared_ptr<const grpc_worker::Contents> contents_of(const contract::Setup& setup);

/// Throws Failure as h2::H2Work does. The setup's options are complete.
std::unique_ptr<const Work> work_of(const contract::Setup& setup,
                                    std::shared_ptr<const grpc_worker::Contents> contents);

}  // namespace netdyno::h2grpc
