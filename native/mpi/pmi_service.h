// The thread with which a trial's server serves PMI: one descriptor to each rank, of
// which one is its own.
//
// Layer: above pmi_server. Any thread builds and destroys it.
#pragma once

#include <array>
#include <thread>

#include "kit/descriptor.h"
#include "mpi/pmi_server.h"

namespace netdyno::mpi_worker {

class PmiService {
 public:
  /// Serves the ranks behind the descriptors, both of them sockets, until each has
  /// finished, one leaves without that, or one speaks something else. Then a rank that
  /// still waits reads the end of its stream.
  PmiService(std::array<Descriptor, kRanks> ranks, bool one_node);
  ~PmiService();
  PmiService(const PmiService&) = delete;
  PmiService& operator=(const PmiService&) = delete;

 private:
  void serve();
  /// Reads what a rank said and answers. False when it has gone.
  bool hear(int rank);

  std::array<Descriptor, kRanks> ranks_;
  std::array<PmiLines, kRanks> lines_;
  PmiServer server_;
  Descriptor stop_event_;
  std::thread thread_;
};

}  // namespace netdyno::mpi_worker
