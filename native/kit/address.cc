#include "kit/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <system_error>

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

std::string Address::text() const {
  if (is_socket()) return host;
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

namespace {

/// The address of a Unix socket; a name that begins with @ is in the abstract namespace.
Endpoint socket_at(const std::string& host, const std::string& key) {
  const std::string path = host.substr(Address::kUnix.size());
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.empty() || path == "@" || path.size() >= sizeof at.sun_path) {
    throw Failure(ErrorKind::setup, "read " + key + ": the path of a Unix socket has " +
                                        std::to_string(path.size()) + " bytes, expected 1 to " +
                                        std::to_string(sizeof at.sun_path - 1));
  }
  std::memcpy(at.sun_path, path.data(), path.size());
  const bool abstract = path[0] == '@';
  if (abstract) at.sun_path[0] = 0;
  Endpoint endpoint;
  endpoint.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  std::memcpy(&endpoint.storage, &at, endpoint.size);
  return endpoint;
}

}  // namespace

Address Endpoint::address() const {
  if (storage.ss_family == AF_UNIX) {
    const auto& at = reinterpret_cast<const sockaddr_un&>(storage);
    const bool abstract = at.sun_path[0] == 0;
    std::string path(at.sun_path, size - offsetof(sockaddr_un, sun_path) - (abstract ? 0 : 1));
    if (abstract) path[0] = '@';
    return {std::string(Address::kUnix) + path};
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(storage);
  if (storage.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    std::array<char, INET_ADDRSTRLEN> four{};
    inet_ntop(AF_INET, &six.sin6_addr.s6_addr[12], four.data(), four.size());
    return {four.data(), ntohs(six.sin6_port)};
  }
  std::array<char, NI_MAXHOST> text{};
  getnameinfo(get(), size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);  // empty when it is none
  const auto& four = reinterpret_cast<const sockaddr_in&>(storage);
  return {text.data(), ntohs(storage.ss_family == AF_INET6 ? six.sin6_port : four.sin_port)};
}

Endpoint endpoint(const Address& address, const std::string& key) {
  if (address.is_socket()) return socket_at(address.host, key);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // no name lookup
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found) != 0) {
    throw Failure(ErrorKind::setup,
                  "read " + key + ": expected an IP address, found \"" + address.host + "\"");
  }
  Endpoint endpoint;
  endpoint.size = found->ai_addrlen;
  std::memcpy(&endpoint.storage, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return endpoint;
}

std::vector<Route> routes(const contract::Setup& setup) {
  if (setup.peers.empty()) {
    throw Failure(ErrorKind::setup, "setup.peers is empty, expected the server's addresses");
  }
  std::vector<Address> peers;
  for (const std::string& peer : setup.peers) {
    const bool socket = peer.starts_with(Address::kUnix);
    peers.push_back(socket ? Address{peer} : parse_address(peer, "setup.peers"));
  }
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
  // The call fails on hosts with more than 1024 CPUs. One loop is the safe choice then.
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return std::max(1, CPU_COUNT(&cpus));
}

std::string interface_of(const std::string& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> keep(list, &freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    Endpoint at;
    at.size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&at.storage, each->ifa_addr, at.size);
    if (at.address().host == address) return each->ifa_name;
  }
  return {};
}

void show_interface(const std::string& name) {
  if (access(("/sys/class/net/" + name).c_str(), F_OK) == 0) return;
  // Without the second step, the new mount would show in everybody's mounts.
  if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      mount("sysfs", "/sys", "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) {
    return;
  }
  throw contract::Failure(contract::ErrorKind::unsupported,
                          "show interface " + name +
                              " in /sys: it shows another network namespace, and mounting "
                              "this one's: " +
                              std::generic_category().message(errno));
}

}  // namespace netdyno
