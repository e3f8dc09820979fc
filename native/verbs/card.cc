#include "verbs/card.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "verbs/channel.h"

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

namespace fs = std::filesystem;

std::string reason_of(const ibv_wc& completion) {
  std::string advice;
  switch (completion.status) {
    case IBV_WC_RETRY_EXC_ERR:
      advice =
          ": the other end did not acknowledge; it is gone, or the network drops its packets (wrong GID, MTU "
          "too large for a switch, no flow control)";
      break;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      advice = ": the receiver had posted no buffer";
      break;
    case IBV_WC_REM_ACCESS_ERR:
      advice = ": the other end does not open this memory";
      break;
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
      advice = ": a message was longer than the receiver's buffer";
      break;
    case IBV_WC_WR_FLUSH_ERR:
      advice = ": the queue pair had failed before";
      break;
    default:
      break;
  }
  return std::string(ibv_wc_status_str(completion.status)) + advice + " (status " +
         std::to_string(completion.status) + ", vendor's error " + std::to_string(completion.vendor_err) +
         ")";
}

std::string reason_of(const Refused& refused) {
  std::string out = "register " + std::to_string(refused.bytes) +
                    " bytes of memory: " + std::generic_category().message(refused.code);
  const bool bounded = refused.limit != RLIM_INFINITY;
  if (refused.code != ENOMEM || !bounded) return out;
  return out + "; this process may lock " + std::to_string(refused.limit) + " bytes (ulimit -l) and has " +
         std::to_string(refused.held) +
         " registered; ulimit -l unlimited raises it, for good \"* - memlock unlimited\" in "
         "/etc/security/limits.conf, or LimitMEMLOCK=infinity in the service's unit";
}

std::string why_no_device(const std::string& root) {
  std::error_code none;  // what is not there has no entries
  const fs::path classes = fs::path(root) / "sys/class/infiniband";
  if (!fs::exists(classes, none)) {
    return "no RDMA device here: /sys/class/infiniband does not exist, so this kernel has no RDMA, or has "
           "not loaded "
           "ib_core";
  }
  if (fs::directory_iterator(classes, none) == fs::directory_iterator()) {
    return "no RDMA device here: /sys/class/infiniband is empty; a card's driver may not be loaded, and "
           "Soft-RoCE is "
           "made by: rdma link add rxe0 type rxe netdev INTERFACE";
  }
  if (!fs::exists(fs::path(root) / "dev/infiniband", none)) {
    return "no RDMA device can be opened: /sys/class/infiniband has some, but /dev/infiniband does not "
           "exist: modprobe "
           "ib_uverbs, or give the container its devices";
  }
  return "no RDMA device can be opened: /sys/class/infiniband has some, but libibverbs knows none of them; "
         "their "
         "providers are in package ibverbs-providers";
}

namespace {

/// Eight bytes that nothing else begins with; the last is the greeting's version.
constexpr std::string_view kMagic{"ndverbs\1", 8};
constexpr std::size_t kSize = 8 + 1 + 4 + 2 + 16 + 6 * 4 + 8;

constexpr std::uint32_t kMax24 = (1U << 24) - 1;
constexpr std::uint32_t kMaxSlots = 1U << 16;
constexpr std::uint32_t kMaxSlotBytes = 64U << 20;

/// Numbers in network byte order.
template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = sizeof value; i-- > 0;) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

template <class T>
T take(std::string_view& in) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; i++)
    value = static_cast<T>((value << 8) | static_cast<std::uint8_t>(in[i]));
  in.remove_prefix(sizeof value);
  return value;
}

void require(bool holds, const std::string& what, std::uint64_t found, const std::string& expected) {
  if (holds) return;
  throw Failure(ErrorKind::invalid, "read the other end's address: " + what + " is " + std::to_string(found) +
                                        ", expected " + expected);
}

}  // namespace

std::string encode(const Greeting& greeting) {
  std::string out(kMagic);
  put(out, static_cast<std::uint8_t>(greeting.operation));
  put(out, greeting.mtu_bytes);
  put(out, greeting.lid);
  for (const std::uint8_t byte : greeting.gid) put(out, byte);
  put(out, greeting.queue_pair);
  put(out, greeting.first_packet);
  put(out, greeting.reads);
  put(out, greeting.slots);
  put(out, greeting.slot_bytes);
  put(out, greeting.ring);
  put(out, greeting.ring_key);
  return out;
}

Greeting decode(std::string_view bytes) {
  require(bytes.size() == kSize, "its length", bytes.size(), std::to_string(kSize) + " bytes");
  if (!bytes.starts_with(kMagic)) {
    throw Failure(ErrorKind::invalid,
                  "read the other end's address: it speaks another protocol, or another version");
  }
  bytes.remove_prefix(kMagic.size());
  Greeting greeting;
  const auto operation = take<std::uint8_t>(bytes);
  require(operation >= 1 && operation <= 3, "its operation", operation, "1 to 3");
  greeting.operation = static_cast<Operation>(operation);
  greeting.mtu_bytes = take<std::uint32_t>(bytes);
  require(std::has_single_bit(greeting.mtu_bytes) && greeting.mtu_bytes >= 256 && greeting.mtu_bytes <= 4096,
          "its MTU", greeting.mtu_bytes, "256, 512, 1024, 2048 or 4096");
  greeting.lid = take<std::uint16_t>(bytes);
  for (std::uint8_t& byte : greeting.gid) byte = take<std::uint8_t>(bytes);
  greeting.queue_pair = take<std::uint32_t>(bytes);
  require(greeting.queue_pair <= kMax24, "its queue pair", greeting.queue_pair, "at most 24 bits");
  greeting.first_packet = take<std::uint32_t>(bytes);
  require(greeting.first_packet <= kMax24, "its first packet", greeting.first_packet, "at most 24 bits");
  greeting.reads = take<std::uint32_t>(bytes);
  require(greeting.reads >= 1 && greeting.reads <= 255, "its number of reads", greeting.reads, "1 to 255");
  greeting.slots = take<std::uint32_t>(bytes);
  require(greeting.slots >= 1 && greeting.slots <= kMaxSlots, "its number of slots", greeting.slots,
          "1 to " + std::to_string(kMaxSlots));
  greeting.slot_bytes = take<std::uint32_t>(bytes);
  require(greeting.slot_bytes >= 1 && greeting.slot_bytes <= kMaxSlotBytes, "the size of its slots",
          greeting.slot_bytes, "1 to " + std::to_string(kMaxSlotBytes));
  greeting.ring = take<std::uint64_t>(bytes);
  greeting.ring_key = take<std::uint32_t>(bytes);
  return greeting;
}

std::string text(const Gid& gid) {
  constexpr Gid kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  char out[INET6_ADDRSTRLEN] = "";
  if (std::equal(gid.begin(), gid.begin() + 12, kMapped.begin())) {
    inet_ntop(AF_INET, gid.data() + 12, out, sizeof out);
  } else {
    inet_ntop(AF_INET6, gid.data(), out, sizeof out);
  }
  return out;
}

bool gid_of(const std::string& address, Gid& gid) {
  if (inet_pton(AF_INET6, address.c_str(), gid.data()) == 1) return true;
  gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return inet_pton(AF_INET, address.c_str(), gid.data() + 12) == 1;
}

}  // namespace netdyno::verbs
