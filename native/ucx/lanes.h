// What UCX prints of an endpoint, read for the transports that it uses.
//
// Layer: bottom. Plain functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace netdyno::ucx {

/// The transports and devices of an endpoint's lanes, as ucp_ep_print_info names them:
/// "tcp/lo", or "posix/memory cma/memory" where several carry messages. Each is named
/// once, in their order; empty when the text has none.
std::string lanes_of(std::string_view printed);

}  // namespace netdyno::ucx
