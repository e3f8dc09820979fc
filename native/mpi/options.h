// The options of transports mpi and mpich.
//
// Layer: above kit. Plain functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "kit/contract.h"

namespace netdyno::mpi_worker {

/// The options with their defaults.
std::vector<contract::Option> options();

/// What one trial wants of the library.
struct Wishes {
  std::string fabric;     // "auto", "tcp", "shm", "ucx" or "ofi"
  bool blocking = false;  // MPI_Send and MPI_Recv
};

/// Reads a setup's complete options. Throws Failure{unsupported} for what this library,
/// this host or MPI itself cannot carry out, with the reason.
Wishes wishes_of(const contract::Setup& setup);

}  // namespace netdyno::mpi_worker
