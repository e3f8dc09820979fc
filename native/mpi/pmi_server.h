// What a process manager answers to the two ranks of a trial, by PMI-1: who they are,
// whether they share a node, and what each has put for the other to get. No I/O:
// pmi_service.h moves the lines.
//
// Layer: above pmi_line. One thread.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/pmi_line.h"

namespace netdyno::mpi_worker {

/// A trial's server is rank 0, its client rank 1.
constexpr int kRanks = 2;

struct PmiAnswer {
  int rank;          // to whom
  std::string line;  // with its end
};

class PmiServer {
 public:
  /// one_node tells the library that its ranks may share memory.
  explicit PmiServer(bool one_node);

  /// What a rank's line leads to: mostly one answer to itself, but none when it is the
  /// first at a barrier, and one to each when it is the last. Throws Failure{invalid}
  /// for what is not the protocol's, and Failure{peer} for a rank that aborts.
  std::vector<PmiAnswer> answer(int rank, std::string_view line);

  /// Whether the rank has said that it needs no more.
  bool finished(int rank) const { return finished_[at(rank)]; }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  PmiLine put(const PmiLine& line);
  PmiLine get(const PmiLine& line) const;
  std::vector<PmiAnswer> barrier(int rank);

  std::map<std::string, std::string, std::less<>> values_;
  std::array<bool, kRanks> waiting_{};
  std::array<bool, kRanks> finished_{};
};

}  // namespace netdyno::mpi_worker
