#include "kit/numa.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace netdyno {

namespace {

std::string text_of(const std::string& path) {
  std::string text;
  std::getline(std::ifstream(path), text);
  return text;
}

/// The CPUs that this process may use.
std::vector<int> usable_cpus() {
  std::vector<int> all;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return all;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &set)) all.push_back(cpu);
  }
  return all;
}

}  // namespace

std::vector<int> cpus_of(const std::string& list) {
  std::vector<int> all;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = 0;
    auto [rest, error] = std::from_chars(at, end, first);
    int last = first;
    if (error == std::errc() && rest < end && *rest == '-') {
      const auto second = std::from_chars(rest + 1, end, last);
      rest = second.ptr;
      error = second.ec;
    }
    const bool ends = rest == end || *rest == ',' || *rest == '\n';
    if (error != std::errc() || !ends || first < 0 || last < first || last >= CPU_SETSIZE) return {};
    for (int cpu = first; cpu <= last; cpu++) all.push_back(cpu);
    at = rest + 1;
  }
  return all;
}

Nodes Nodes::here() { return of("", usable_cpus()); }

Nodes Nodes::of(const std::string& root, const std::vector<int>& usable) {
  const std::string below = root + "/sys/devices/system/node/";
  Nodes nodes;
  for (const int number : cpus_of(text_of(below + "online"))) {
    Node node{number, cpus_of(text_of(below + "node" + std::to_string(number) + "/cpulist"))};
    std::erase_if(node.cpus, [&usable](int cpu) {
      return std::find(usable.begin(), usable.end(), cpu) == usable.end();
    });
    if (node.cpus.empty()) continue;
    nodes.cpus_ += node.cpus.size();
    nodes.nodes_.push_back(std::move(node));
  }
  return nodes;
}

/// With n loops spread over all CPUs in the nodes' order, loop i begins at this CPU.
const Nodes::Node& Nodes::node(std::size_t i, std::size_t n) const {
  std::size_t cpu = i * cpus_ / n;
  auto at = nodes_.begin();
  for (; cpu >= at->cpus.size(); ++at) cpu -= at->cpus.size();
  return *at;
}

std::vector<std::int64_t> Nodes::of_loops(std::size_t n) const {
  std::vector<std::int64_t> all;
  if (nodes_.size() < 2) return all;
  for (std::size_t i = 0; i < n; i++) all.push_back(node(i, n).number);
  return all;
}

void Nodes::keep(std::size_t i, std::size_t n) const {
  if (nodes_.size() < 2) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : node(i, n).cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace netdyno
