// On a machine of several NUMA nodes each loop stays on one of them, so that the memory which it
// touches first is near it for ever. Where a loop runs within its node is the kernel's choice.
//
// Layer: above system. A Nodes is immutable: any thread may use it. Go counterpart:
// internal/work/load/numa.go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace netdyno {

class Nodes {
 public:
  struct Node {
    std::int64_t number;
    std::vector<int> cpus;  // those that this process may use
  };

  /// The nodes with CPUs that this process may use.
  static Nodes here();
  /// The same of the files below root, as /sys has them, for a process that may use those CPUs.
  static Nodes of(const std::string& root, const std::vector<int>& usable);

  /// The node of each of n loops, by number: shared out as the CPUs are, neighbours together. None
  /// where all CPUs are of one node.
  std::vector<std::int64_t> of_loops(std::size_t n) const;
  /// Keeps the calling thread, which is loop i of n, to its node. Does nothing where there is one
  /// node, or where the kernel refuses.
  void keep(std::size_t i, std::size_t n) const;

 private:
  const Node& node(std::size_t i, std::size_t n) const;

  std::vector<Node> nodes_;
  std::size_t cpus_ = 0;
};

/// The CPUs of a list in the kernel's format, "0-3,8"; none for anything else.
std::vector<int> cpus_of(const std::string& list);

}  // namespace netdyno
