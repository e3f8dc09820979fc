// A setup's addresses, independent of any library, the limits on connections, and this host's
// network interfaces. Layer: above contract. Plain functions; any thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"

namespace netdyno {

struct Address {
  std::string host;  // an IP address without brackets; of a Unix socket unix:PATH, or unix:@NAME
  std::uint16_t port = 0;

  bool is_socket() const { return host.starts_with(kUnix); }
  /// host:port, an IPv6 host in brackets.
  std::string text() const;
  /// The same as requests name it: a Unix socket has no name of its own.
  std::string authority() const { return is_socket() ? "localhost" : text(); }

  static constexpr std::string_view kUnix = "unix:";
};

/// Splits "host:port" or "[v6]:port"; throws Failure{setup} that names key.
Address parse_address(const std::string& text, const std::string& key);

/// A socket address.
struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  /// Host and port. An IPv4 address mapped to IPv6 becomes IPv4.
  Address address() const;
};

/// Throws Failure{setup} that names key when host is no IP address, and no Unix socket's.
Endpoint endpoint(const Address& address, const std::string& key);

/// The addresses of one connection. An empty source leaves the choice to the kernel.
struct Route {
  Address peer;
  std::string source;
};

/// The routes of a client. Connection i takes route i mod their number, so that peers
/// and sources are each used in turn. Throws Failure{setup} when there is no peer.
std::vector<Route> routes(const contract::Setup& setup);

/// Raises the soft limit of open files to the hard one.
void raise_descriptors();

/// Throws Failure{setup} with both numbers when this process may not open as many files
/// as connections need.
void require_descriptors(std::int64_t connections);

/// setup.threads, or the number of CPUs that this process may use if that is 0.
int effective_threads(const contract::Setup& setup);

/// The network interface that has an address; empty when none has. Any thread.
std::string interface_of(const std::string& address);

/// Makes an interface visible where UCX looks for interfaces, below /sys/class/net.
/// There the kernel shows the network namespace of whoever mounted /sys, which need not
/// be this process's. If so, the calling thread gets mounts of its own with its own
/// /sys, and so do the threads that it starts afterwards. Throws Failure{unsupported}
/// when the kernel does not let it.
void show_interface(const std::string& name);

}  // namespace netdyno
