#include "verbs/greeting.h"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>

#include "kit/contract.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

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
