#include "kit/address.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <numeric>

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

std::string Address::text() const {
  const bool six = host.find(':') != std::string::npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Address parse_address(const std::string& text, const std::string& key) {
  const auto colon = text.rfind(':');
  Address address;
  bool good = colon != std::string::npos && colon > 0;
  if (good) {
    address.host = text.substr(0, colon);
    if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') {
      address.host = address.host.substr(1, address.host.size() - 2);
    } else {
      good = address.host.find(':') == std::string::npos;  // an IPv6 address needs its brackets
    }
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    good = good && error == std::errc{} && stopped == end;
  }
  if (!good) {
    throw Failure(ErrorKind::setup, "read " + key + ": expected ADDRESS:PORT, found \"" + text + "\"");
  }
  return address;
}

std::vector<Route> routes(const contract::Setup& setup) {
  if (setup.peers.empty()) {
    throw Failure(ErrorKind::setup, "setup.peers is empty, expected the server's addresses");
  }
  std::vector<Address> peers;
  for (const std::string& peer : setup.peers) peers.push_back(parse_address(peer, "setup.peers"));
  const std::size_t sources = std::max<std::size_t>(1, setup.sources.size());
  std::vector<Route> routes(std::lcm(peers.size(), sources));
  for (std::size_t i = 0; i < routes.size(); i++) {
    routes[i].peer = peers[i % peers.size()];
    if (!setup.sources.empty()) routes[i].source = setup.sources[i % sources];
  }
  return routes;
}

void raise_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // too few is reported by require_descriptors
}

void require_descriptors(std::int64_t connections) {
  constexpr std::int64_t kOwn = 64;  // stdio, event descriptors, listeners
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const auto available = static_cast<std::int64_t>(limit.rlim_cur);
  if (connections + kOwn <= available) return;
  throw Failure(ErrorKind::setup, "open " + std::to_string(connections) + " connections: " +
                                      std::to_string(connections + kOwn) + " file descriptors are needed, " +
                                      std::to_string(available) + " available; raise `ulimit -n`");
}

int effective_threads(const contract::Setup& setup) {
  if (setup.threads > 0) return static_cast<int>(setup.threads);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  // On hosts beyond 1024 CPUs the call fails; one loop is then the honest fallback.
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return std::max(1, CPU_COUNT(&cpus));
}

}  // namespace netdyno
