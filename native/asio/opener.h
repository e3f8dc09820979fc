// Opens a client's connections: connect, then one verified message on each.
//
// Layer: asio worker. Immutable; each loop's thread calls open for its own lane.
#pragma once

#include <cstdint>
#include <vector>

#include "asio/loop.h"
#include "kit/address.h"
#include "kit/echo.h"

namespace netdyno::asio_worker {

class Opener {
 public:
  /// payload outlives the opener. Throws Failure{setup} for an address that is none.
  Opener(const contract::Setup& setup, const EchoPayload& payload, int lanes);

  /// Opens connections lane, lane + lanes, … on context, in that order, with no
  /// Nagle delay and non-blocking. Staggered: few are under way at a time, so
  /// that the server's backlog never overflows. Throws Failure: peer when the
  /// connection is refused or lost, timeout when nothing moves, invalid when
  /// what comes back is not what was sent, setup when ports or files run out.
  std::vector<Socket> open(::asio::io_context& context, int lane) const;

 private:
  friend class Opening;

  struct Endpoints {
    Tcp::endpoint peer;
    Tcp::endpoint source;
    bool bound;
  };

  const EchoPayload& payload_;
  int lanes_;
  std::int64_t connections_;
  std::vector<Endpoints> routes_;
};

}  // namespace netdyno::asio_worker
