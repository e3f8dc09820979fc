// Local addresses, which the library does not let a user choose. Layer: above kit/address.
// Plain functions; any thread.
#pragma once

#include "kit/address.h"

namespace netdyno::grpc_worker {

/// Throws Failure{unsupported} unless the kernel chooses the route's source by itself: gRPC
/// connects from the address that the kernel chooses.
void require_own_source(const Route& route);

}  // namespace netdyno::grpc_worker
