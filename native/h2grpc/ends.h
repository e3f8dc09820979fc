// Options and ends of transport grpc-nghttp2.
//
// Layer: above call, h2/uring, h2/work.
#pragma once

#include <memory>

#include "kit/contract.h"
#include "kit/worker.h"

namespace netdyno::h2grpc {

/// The wire's name.
inline constexpr char kWire[] = "grpc:netdyno.v1";

contract::Transport transport();

/// Throw Failure: setup for an exchange or an option that cannot be, unsupported for one that
/// is not carried. The setup's options are complete.
std::unique_ptr<Server> make_server(const contract::Setup& setup);
std::unique_ptr<Client> make_client(const contract::Setup& setup, Load& load);

}  // namespace netdyno::h2grpc
