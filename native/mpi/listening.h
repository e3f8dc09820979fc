// Where MPI's libraries listen.
//
// Layer: above kit.
#pragma once

#include <string>

namespace netdyno::mpi_worker {

/// From now on, a socket of this process that a library binds to every address of the host is
/// bound to this one alone: Open MPI's btl tcp listens on all of them whatever its settings say
/// (btl_tcp_if_include only chooses what the other rank is told). Its listener of
/// the other family goes to that family's loopback. Call it before the library starts. Throws Failure{setup}
/// for a host that is no IP address.
void listen_only_at(const std::string& host);

}  // namespace netdyno::mpi_worker
