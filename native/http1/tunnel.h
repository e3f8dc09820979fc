// Connections through an HTTP proxy: each begins with CONNECT, and what the proxy then passes on is
// another flow's (RFC 9110, section 9.3.6).
//
// Layer: above terms; below it the flow of TLS, which begins once the tunnel is there.
#pragma once

#include <memory>

#include "kit/contract.h"
#include "kit/work.h"

namespace netdyno::http1 {

/// work itself, or where option proxied is set and the trial encrypted, work through tunnels. Throws
/// Failure{setup} for options that cannot be.
std::unique_ptr<const Work> through(const contract::Setup& setup, std::unique_ptr<const Work> work);

}  // namespace netdyno::http1
