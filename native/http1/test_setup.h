// Ends of wire http/1.1 without sockets. Layer: test.
#pragma once

#include <cstdint>

#include "http1/options.h"
#include "http1/server.h"
#include "kit/options.h"
#include "test/flow_rig.h"

namespace netdyno::http1::test {

inline constexpr std::int64_t kForEver = std::int64_t{1} << 40;

/// A setup with complete options.
inline contract::Setup setup_of(contract::Role role, std::int64_t up, std::int64_t down,
                                const contract::Options& options = contract::Options{}) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange.up_bytes = up;
  setup.exchange.down_bytes = down;
  setup.peers = {"127.0.0.1:8080"};
  setup.load.connections = 1;
  setup.options = complete_options(transport("http1", ""), role, options);
  return setup;
}

/// A client's flow of one connection, with all that it needs.
struct ClientRig : netdyno::test::ClientRig {
  using netdyno::test::ClientRig::ClientRig;
  explicit ClientRig(const contract::Setup& setup) : ClientRig(setup, work_of(setup)) {}
};

using netdyno::test::give;
using netdyno::test::sent;

}  // namespace netdyno::http1::test
