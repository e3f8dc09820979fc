#include "verbs/card.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "kit/contract.h"
#include "verbs/reasons.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// The most GIDs of a device that are looked at: libibverbs hands their table to the
/// kernel with its size in 16 bits, and an entry has 32 bytes.
constexpr std::size_t kMaxGids = 2047;

GidKind kind_of(std::uint32_t type) {
  switch (type) {
    case IBV_GID_TYPE_ROCE_V2:
      return GidKind::roce2;
    case IBV_GID_TYPE_ROCE_V1:
      return GidKind::roce1;
    default:
      return GidKind::infiniband;
  }
}

std::string interface_name(std::uint32_t index) {
  char name[IF_NAMESIZE] = "";
  return index != 0 && if_indextoname(index, name) != nullptr ? name : "";
}

/// The interface that has an address; empty when none does.
std::string interface_with(const std::string& address) {
  Gid wanted{};
  if (!gid_of(address, wanted)) return {};
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  std::string found;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (each->ifa_addr->sa_family == AF_INET) {
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, text, sizeof text);
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr, text,
                sizeof text);
    }
    Gid has{};
    if (gid_of(text, has) && has == wanted) found = each->ifa_name;
  }
  freeifaddrs(first);
  return found;
}

/// The GIDs of a device's ports.
std::vector<Candidate> candidates_of(ibv_context& context) {
  std::vector<ibv_gid_entry> table(kMaxGids);
  const ssize_t count = ibv_query_gid_table(&context, table.data(), table.size(), 0);
  if (count < 0) {
    errno = static_cast<int>(-count);
    throw Failure(ErrorKind::setup,
                  failed(std::string("list the GIDs of ") + ibv_get_device_name(context.device)));
  }
  std::vector<Candidate> found;
  for (ssize_t i = 0; i < count; i++) {
    const ibv_gid_entry& entry = table[static_cast<std::size_t>(i)];
    ibv_port_attr port{};
    if (ibv_query_port(&context, static_cast<std::uint8_t>(entry.port_num), &port) != 0) continue;
    Candidate candidate;
    candidate.device = ibv_get_device_name(context.device);
    candidate.port = entry.port_num;
    candidate.gid_index = entry.gid_index;
    std::copy(std::begin(entry.gid.raw), std::end(entry.gid.raw), candidate.gid.begin());
    candidate.kind = kind_of(entry.gid_type);
    candidate.interface = interface_name(entry.ndev_ifindex);
    candidate.active = port.state == IBV_PORT_ACTIVE;
    candidate.state = ibv_port_state_str(port.state);
    candidate.mtu_bytes = bytes_of(port.active_mtu);
    candidate.lid = port.lid;
    found.push_back(std::move(candidate));
  }
  return found;
}

}  // namespace

std::string failed(const std::string& what) { return what + ": " + std::generic_category().message(errno); }

ibv_mtu mtu_of(std::uint32_t bytes) {
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048}) {
    if (bytes_of(mtu) >= bytes) return mtu;
  }
  return IBV_MTU_4096;
}

std::uint32_t bytes_of(ibv_mtu mtu) { return 128U << static_cast<unsigned>(mtu); }

Card::Card(const Settings& settings, const std::string& address) {
  int count = 0;
  const std::unique_ptr<ibv_device*, decltype(&ibv_free_device_list)> list(ibv_get_device_list(&count),
                                                                           &ibv_free_device_list);
  if (!list || count == 0) throw Failure(ErrorKind::unsupported, why_no_device("/"));
  std::vector<Owned<ibv_context, ibv_close_device>> opened;
  std::vector<Candidate> candidates;
  std::string reasons;
  for (int i = 0; i < count; i++) {
    ibv_device* device = list.get()[i];
    opened.emplace_back(ibv_open_device(device));
    if (!opened.back()) {
      reasons += (reasons.empty() ? "" : "; ") + failed(std::string("open ") + ibv_get_device_name(device));
      continue;
    }
    const auto found = candidates_of(*opened.back());
    candidates.insert(candidates.end(), found.begin(), found.end());
  }
  if (candidates.empty()) {
    throw Failure(ErrorKind::unsupported,
                  reasons.empty() ? "no port of this host's RDMA devices has a GID" : reasons);
  }
  port_ = choose(candidates, settings, {address, interface_with(address)});
  mtu_bytes_ = mtu_on(port_, settings);
  for (auto& context : opened) {
    if (context && port_.device == ibv_get_device_name(context->device)) context_ = std::move(context);
  }
  if (ibv_query_device(context_.get(), &limits_) != 0)
    throw Failure(ErrorKind::setup, failed("query " + port_.device));
  domain_.reset(ibv_alloc_pd(context_.get()));
  if (!domain_) throw Failure(ErrorKind::setup, failed("allocate a protection domain of " + port_.device));
}

}  // namespace netdyno::verbs
