// What differs between the two MPI libraries that the same sources are built on:
// library_openmpi.cc and library_mpich.cc, of which a worker has one.
//
// Layer: above kit. Plain functions; any thread, before MPI is initialized too.
#pragma once

#include <string>
#include <utility>
#include <vector>

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

}  // namespace netdyno::mpi_worker
