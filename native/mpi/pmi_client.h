// A rank's questions to the server of PMI, for a library that brings no client of its
// own: Open MPI asks by calls of PMI-1's interface in C (pmi_calls.cc).
//
// Layer: above pmi_line. Any thread; calls wait for each other.
#pragma once

#include <mutex>
#include <string>

#include "mpi/pmi_line.h"

namespace netdyno::mpi_worker {

class PmiClient {
 public:
  /// Speaks on a socket that somebody else keeps and closes. Its time-outs bound every
  /// wait here.
  PmiClient(int fd, int rank) : fd_(fd), rank_(rank) {}

  int rank() const { return rank_; }
  /// Each of these throws Failure{peer}, {timeout} or {invalid}.
  void init();
  std::string space();
  void put(const std::string& key, const std::string& value);
  /// False when nobody has put the key.
  bool get(const std::string& key, std::string& value);
  void barrier();
  /// Whether the server says that both ranks are on one node.
  bool one_node();
  void finalize();

 private:
  /// Sends a line and waits for the answer, whose command must be the expected one.
  PmiLine ask(const PmiLine& question, const std::string& expected);

  int fd_;
  int rank_;
  std::mutex mutex_;
  PmiLines lines_;
};

}  // namespace netdyno::mpi_worker
