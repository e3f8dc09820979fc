// The work of wire grpc:netdyno.v1 for the kit's loop ends, and its options.
//
// Layer: above call, h2/work.
#pragma once

#include <memory>
#include <vector>

#include "kit/contract.h"
#include "kit/work.h"

namespace netdyno::h2grpc {

/// The options that both ends have, those of sockets, of HTTP/2 and of TLS included.
std::vector<contract::Option> options();

/// Throws Failure as h2::H2Work does: setup for values that do not fit their type, too,
/// unsupported for a message that is not built in, or for options that contradict the
/// exchange. The setup's options are complete.
std::unique_ptr<const Work> work_of(const contract::Setup& setup);

}  // namespace netdyno::h2grpc
