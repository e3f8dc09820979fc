#include "kit/ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "kit/random.h"

namespace netdyno {

namespace {

/// With fewer connections the kernel's search is quick.
constexpr std::int64_t kMany = 4'096;
/// Ports that one connection may have. Some may be another process's, or be left over from
/// connections that ended a minute ago.
constexpr std::uint32_t kWindow = 64;

/// Linux 6.3; absent from older headers. Its value holds the last port and the first one,
/// 16 bits each.
constexpr int kLocalPortRange = 51;

bool set_range(int fd, std::uint32_t range) {
  return setsockopt(fd, IPPROTO_IP, kLocalPortRange, &range, sizeof range) == 0;
}

}  // namespace

Ports::Ports(std::int64_t connections) {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  if (connections < kMany || !(range >> first >> last) || last > 0xffff || last < first + kWindow) return;
  first_ = first;
  count_ = last - first + 1 - kWindow;
  auto state = static_cast<std::uint64_t>(getpid());  // several clients begin apart
  start_ = static_cast<std::uint32_t>(split_mix(state) % count_);
}

bool Ports::narrow(int fd, std::int64_t i) const {
  if (count_ == 0) return false;
  const std::uint32_t low = first_ + (start_ + static_cast<std::uint32_t>(i)) % count_;
  return set_range(fd, (low + kWindow - 1) << 16 | low);
}

void Ports::widen(int fd) { set_range(fd, 0); }

}  // namespace netdyno
