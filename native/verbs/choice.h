// Which port of which device a connection takes, and by which of its GIDs.
//
// Layer: above greeting. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verbs/greeting.h"
#include "verbs/settings.h"

namespace netdyno::verbs {

enum class GidKind { infiniband, roce1, roce2 };

/// One GID of one port.
struct Candidate {
  std::string device;
  std::uint32_t port = 0;
  std::uint32_t gid_index = 0;
  Gid gid{};
  GidKind kind = GidKind::infiniband;
  std::string interface;  // of the network that the GID belongs to; empty when unknown
  bool active = false;    // whether the port is
  std::string state;      // of the port, as ibv_devinfo says it: "PORT_DOWN"
  std::uint32_t mtu_bytes = 0;
  std::uint16_t lid = 0;
};

/// The address of a trial's end, and the interface that has it (empty for none).
struct Whereabouts {
  std::string address;
  std::string interface;
};

/// The candidate that the settings and the address ask for. Throws
/// Failure{unsupported} when no port carries the address, and Failure{setup} when what
/// the settings name does not exist or cannot be used.
const Candidate& choose(const std::vector<Candidate>& all, const Settings& settings, const Whereabouts& end);

/// The MTU to use on a port, in bytes. Throws Failure{setup} when more is asked for.
std::uint32_t mtu_on(const Candidate& port, const Settings& settings);

/// "rxe0:1".
std::string port_name(const Candidate& candidate);

}  // namespace netdyno::verbs
