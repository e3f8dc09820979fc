// Whether messages can lie in a GPU's memory.
//
// Layer: above kit. Plain functions; any thread, before MPI is initialized too.
#pragma once

#include <string>

namespace netdyno::mpi_worker {

/// Why the library cannot move messages from one GPU's memory to another's here.
std::string device_memory_lacks();

}  // namespace netdyno::mpi_worker
