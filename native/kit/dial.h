// Begins the connections of a client.
//
// Layer: above address and ports. Immutable after construction: any thread may dial.
#pragma once

#include <cstdint>
#include <vector>

#include "kit/address.h"
#include "kit/contract.h"
#include "kit/descriptor.h"
#include "kit/ports.h"

namespace netdyno {

class Dialler {
 public:
  /// Throws Failure{setup} for addresses that are none.
  explicit Dialler(const contract::Setup& setup);

  /// A socket that is connecting, for connection number of the client: non-blocking,
  /// without Nagle's delay, close-on-exec. When it could not begin, none, and errno says
  /// why. The kernel chooses the port of a source address at connect
  /// (IP_BIND_ADDRESS_NO_PORT), of many connections each among a few. Throws Failure{setup} as set_buffers
  /// does.
  Descriptor dial(std::int64_t number) const;

  /// Where connection number leads.
  const Endpoint& peer(std::int64_t number) const { return ends(number).peer; }

 private:
  struct Ends {
    Endpoint peer;
    Endpoint source;
    bool bound = false;
  };
  const Ends& ends(std::int64_t number) const {
    return ends_[static_cast<std::size_t>(number) % ends_.size()];
  }

  bool connects(int fd, std::int64_t number) const;

  std::vector<Ends> ends_;  // by route
  Ports ports_;
  contract::Json options_;
};

}  // namespace netdyno
