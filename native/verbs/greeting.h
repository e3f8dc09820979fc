// What the two ends of a connection tell each other before they can move a message:
// where each one's queue pair and ring are.
//
// Layer: above settings. Plain functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "verbs/settings.h"

namespace netdyno::verbs {

using Gid = std::array<std::uint8_t, 16>;

/// One end of a connection.
struct Greeting {
  Operation operation = Operation::send;
  std::uint32_t mtu_bytes = 0;
  std::uint16_t lid = 0;  // InfiniBand's address of the port; 0 on Ethernet
  Gid gid{};
  std::uint32_t queue_pair = 0;    // 24 bits
  std::uint32_t first_packet = 0;  // 24 bits
  std::uint32_t reads = 0;         // reads that it answers at a time
  std::uint32_t slots = 0;         // messages that its ring holds
  std::uint32_t slot_bytes = 0;
  std::uint64_t ring = 0;  // its address, and the key that opens it to writes
  std::uint32_t ring_key = 0;
};

/// The bytes that go over the control socket.
std::string encode(const Greeting& greeting);
/// Reads the other end's. Throws Failure{invalid} that says what was found and what was
/// expected.
Greeting decode(std::string_view bytes);

/// "::ffff:10.0.0.1" as 10.0.0.1, any other as an IPv6 address.
std::string text(const Gid& gid);
/// The GID of an IP address, as RoCE version 2 has it. False when it is none.
bool gid_of(const std::string& address, Gid& gid);

}  // namespace netdyno::verbs
