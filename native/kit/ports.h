// Local ports for many connections.
//
// To connect, the kernel tries the ports of its range (net.ipv4.ip_local_port_range) one
// after the other until one is free. Once most are in use, each connection takes hundreds
// of microseconds. Here each is told a few ports to try, where most are free.
//
// Layer: bottom. Immutable after construction: any thread may use it. Go counterpart:
// internal/work/wire/ports.go.
#pragma once

#include <cstdint>

namespace netdyno {

class Ports {
 public:
  /// For so many connections from one address of this host to one of the other end.
  explicit Ports(std::int64_t connections);

  /// Names the ports that connection i may have. True when it did: connect may then fail
  /// with EADDRNOTAVAIL because others took them all; call widen and connect again. False
  /// where the connections are few or the kernel is older than Linux 6.3.
  bool narrow(int fd, std::int64_t i) const;
  /// Lets the kernel choose among all ports again.
  static void widen(int fd);

 private:
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;  // 0: the kernel's search is quick enough
  std::uint32_t start_ = 0;
};

}  // namespace netdyno
