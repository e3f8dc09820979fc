// Local addresses, which the library chooses alone. Layer: above kit/address.
// Plain functions; any thread.
#pragma once

#include "kit/address.h"

namespace netdyno::grpc_worker {

/// Throws Failure{unsupported} unless the kernel takes the route's source by
/// itself: gRPC connects from whatever address it is given.
void require_own_source(const Route& route);

}  // namespace netdyno::grpc_worker
