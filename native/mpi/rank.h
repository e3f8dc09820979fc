// One of the two ranks: how the library starts, finds the other rank over a control
// socket, and ends, without mpirun.
//
// Layer: above pmi_service, library. A process has one rank in its life, as MPI is
// initialized once. One thread at a time uses it.
#pragma once

#include <memory>
#include <string>

#include "kit/contract.h"
#include "kit/descriptor.h"
#include "mpi/pmi_service.h"

namespace netdyno::mpi_worker {

class Rank {
 public:
  /// Starts the library; returns once messages pass both ways. control is a connected
  /// TCP socket whose other end does the same. Throws Failure. Where the library itself
  /// finds that it cannot start, it ends the process after it has told why on stderr.
  Rank(int control, contract::Role role, const std::string& fabric);
  /// Finalizes the library if the other end is still there, for at most a second.
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  /// The other end's rank in MPI_COMM_WORLD.
  int other() const { return role_ == contract::Role::server ? 1 : 0; }

  /// Whether the library was started and not finalized, so that the process has to end
  /// without running the library's own clean-up.
  static bool unfinished();

 private:
  void start_process_management(int control, bool one_node);
  void meet();
  bool other_is_there() const;

  contract::Role role_;
  Descriptor control_;
  std::unique_ptr<PmiService> service_;  // the server's
};

}  // namespace netdyno::mpi_worker
