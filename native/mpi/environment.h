// The process's environment and its host, as MPI libraries look at them.
//
// Layer: above kit. Not while another thread reads the environment.
#pragma once

#include <string>

namespace netdyno::mpi_worker {

/// Removes what would make an MPI library believe that somebody else started it (Slurm,
/// mpirun, Flux), or change what a trial asks of it (OMPI_MCA_*, MPIR_CVAR_*, UCX_TLS,
/// UCX_NET_DEVICES). What describes the hardware stays: UCX_IB_GID_INDEX, FI_*, PSM2_*.
void clear_environment();

/// The two addresses of a connected socket, without ports.
struct Ends {
  std::string own;
  std::string other;
};
/// Throws Failure{peer} when the socket is not connected any more.
Ends ends_of(int control);

/// Makes this process's directory for files that both ranks map: in memory, or where
/// that cannot be, on disk. First removes those that processes left behind which were
/// killed while they started. Throws Failure{setup}.
std::string make_directory();
/// Removes it with all that is in it, if it is there.
void remove_directory();

}  // namespace netdyno::mpi_worker
