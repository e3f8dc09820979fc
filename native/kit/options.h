// A transport's options: checked against its own description, defaults filled in.
// Layer: above contract. Plain functions; any thread.
#pragma once

#include "kit/contract.h"

namespace netdyno {

/// The effective options of a transport in a role. Throws Failure{setup} for an
/// unknown name (with the nearest one) or a value out of its range.
contract::Json complete_options(const contract::Transport& transport, contract::Role role,
                                const contract::Json& given);

/// The transport of that name that plays the role and has every feature that the
/// setup asks for, or Failure{unsupported}.
const contract::Transport& find_transport(const std::vector<contract::Transport>& transports,
                                          const contract::Setup& setup);

}  // namespace netdyno
