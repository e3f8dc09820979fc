#include "kit/path.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

namespace netdyno {
namespace {

namespace fs = std::filesystem;

/// Bytes over one TCP socket; 0 for any other descriptor.
std::int64_t tcp_bytes(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return static_cast<std::int64_t>(info.tcpi_bytes_sent + info.tcpi_bytes_received);
}

/// A counter of an RDMA port: words of four bytes by the InfiniBand specification
/// (PortXmitData, volume 1, section 16.1.3.5).
std::int64_t port_words(const fs::path& counter) {
  std::int64_t value = 0;
  std::ifstream(counter) >> value;
  return value;
}

/// The most that a packet of Soft-RoCE carries, which has no port counters but counts
/// packets: their bytes are at most so many.
constexpr std::int64_t kSoftPacket = 4096;

std::int64_t soft_bytes(const fs::path& port) {
  return kSoftPacket *
         (port_words(port / "hw_counters/sent_pkts") + port_words(port / "hw_counters/rcvd_pkts"));
}

/// The kernel reads a device's own counters anew when they are older than their
/// lifespan, in ms, and else tells the old ones.
void outlive(const fs::path& port) {
  constexpr std::int64_t kMost = 100;
  constexpr std::int64_t kTick = 20;  // two of a kernel whose clock is as coarse as they are made
  std::ifstream file(port / "hw_counters/lifespan");
  std::int64_t lifespan = 0;
  if (!(file >> lifespan)) return;
  std::this_thread::sleep_for(
      std::chrono::milliseconds(std::clamp<std::int64_t>(lifespan, 0, kMost) + kTick));
}

}  // namespace

PathCounters read_path(const std::set<int>& without) {
  PathCounters counters;
  std::error_code none;  // a directory that is not there has no entries
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", none)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    if (!without.contains(fd)) counters.tcp_bytes += tcp_bytes(fd);
  }
  for (const auto& device : fs::directory_iterator("/sys/class/infiniband", none)) {
    for (const auto& port : fs::directory_iterator(device.path() / "ports", none)) {
      const fs::path words = port.path() / "counters";
      if (fs::exists(words / "port_xmit_data", none)) {
        counters.rdma_bytes +=
            4 * (port_words(words / "port_xmit_data") + port_words(words / "port_rcv_data"));
        continue;
      }
      outlive(port.path());
      counters.rdma_bytes += soft_bytes(port.path());
    }
  }
  return counters;
}

std::string path_over(const PathCounters& before, const PathCounters& after, std::int64_t payload) {
  if (2 * (after.tcp_bytes - before.tcp_bytes) >= payload) return "tcp";
  if (2 * (after.rdma_bytes - before.rdma_bytes) >= payload) return "rdma";
  return {};
}

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

}  // namespace netdyno
