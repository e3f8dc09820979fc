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
  std::string fabric;     // a level of option fabric
  bool blocking = false;  // MPI_Send and MPI_Recv
  bool device = false;    // messages lie in a GPU's memory
};

/// Reads a setup's complete options. Throws Failure{unsupported} for what this library,
/// this host or MPI itself cannot carry out, with the reason.
Wishes wishes_of(const contract::Setup& setup);

/// The way that messages have to take then, as contract::Path::over; empty for any.
std::string demanded_path(const Wishes& wishes);

}  // namespace netdyno::mpi_worker
