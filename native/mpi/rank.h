// What differs between the two MPI libraries that the same sources are built on:
// library_openmpi.cc and library_mpich.cc, of which a worker has one.
//
// Layer: above kit. Plain functions; any thread, before MPI is initialized too.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kit/contract.h"
#include "kit/system.h"
#include "mpi/pmi.h"

namespace netdyno::mpi_worker {

/// The transport and its wire.
std::string library_transport();
/// What the library is called, for people.
std::string library_name();
/// The version as two ends compare it: libraries of two versions need not understand
/// each other. Short and in one line.
std::string library_version();

/// Why this build of the library cannot use a fabric; empty when it can.
std::string library_lacks(const std::string& fabric);

/// What the environment must say before MPI_Init.
struct Surroundings {
  std::string fabric;
  std::string interface;  // of the trial's address
  bool one_node = false;  // both ranks may share memory
};
std::vector<std::pair<std::string, std::string>> library_environment(const Surroundings& surroundings);

/// By what parts the library moves messages, in its own words: once MPI is initialized.
std::string library_path();

/// One of the two ranks: how the library starts, finds the other rank over a control socket, and ends,
/// without mpirun.
///
/// A process has one rank in its life, as MPI is initialized once. One thread at a time uses it.
class Rank : Pinned {
 public:
  /// Starts the library; returns once messages pass both ways. control is a connected
  /// TCP socket whose other end does the same. Throws Failure. Where the library itself
  /// finds that it cannot start, it ends the process after it has told why on stderr.
  Rank(int control, contract::Role role, const std::string& fabric);
  /// Finalizes the library if the other end is still there, for at most a second.
  ~Rank();

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
