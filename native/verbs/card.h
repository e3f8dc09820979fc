// What the options ask for, the card that has it, and what the two ends of a connection tell
// each other before they can move a message: where each one's queue pair and ring are.
//
// Layer: bottom of verbs, above the kit's options. Values and functions: any thread. A card:
// one at a time.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"

namespace netdyno::verbs {

/// How a message travels. Both ends of a connection use the same.
enum class Operation : std::uint8_t {
  send = 1,   // sent into a buffer that the receiver has posted
  write = 2,  // written into the receiver's ring, which is told by an immediate
  read = 3,   // announced, and pulled by the receiver
};

std::string_view name(Operation operation);

struct Settings {
  Operation operation = Operation::send;
  std::uint32_t inline_bytes = 0;  // messages up to this go with the request itself
  std::uint32_t window = 64;       // messages outstanding on a connection
  bool waits = false;              // for an event of the card; else it polls
  std::string device;              // empty: the one that carries the trial's address
  int gid_index = -1;              // -1: the one of the trial's address
  std::uint32_t mtu_bytes = 0;     // 0: the port's

  static Settings of(const contract::Options& options);
};

/// The options' description, for the transport's.
std::vector<contract::Option> setting_options();

/// Why a request did not complete. "retry exceeded: …"
std::string reason_of(const ibv_wc& completion);

/// Why memory could not be registered: code is errno, bytes how much was asked for,
/// held how much is registered already, limit RLIMIT_MEMLOCK in bytes.
struct Refused {
  int code = 0;
  std::uint64_t bytes = 0;
  std::uint64_t held = 0;
  std::uint64_t limit = 0;
};
std::string reason_of(const Refused& refused);

/// Why this host has no device to open: what was looked at, and what was missing.
/// root is "/", or a copy of another host's files.
std::string why_no_device(const std::string& root);

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

enum class GidKind { infiniband, roce1, roce2 };

/// One GID of one port.
struct Candidate {
  std::string device;
  std::uint32_t port = 0;
  std::uint32_t gid_index = 0;
  Gid gid{};
  GidKind kind = GidKind::infiniband;
  std::string interface;  // of the network that the GID belongs to; empty when unknown
  bool active = false;    // whether the port is
  std::string state;      // of the port, as ibv_devinfo says it: "PORT_DOWN"
  std::uint32_t mtu_bytes = 0;
  std::uint16_t lid = 0;
};

/// The address of a trial's end, and the interface that has it (empty for none).
struct Whereabouts {
  std::string address;
  std::string interface;
};

/// The candidate that the settings and the address ask for. Throws
/// Failure{unsupported} when no port carries the address, and Failure{setup} when what
/// the settings name does not exist or cannot be used.
const Candidate& choose(const std::vector<Candidate>& all, const Settings& settings, const Whereabouts& end);

/// The MTU to use on a port, in bytes. Throws Failure{setup} when more is asked for.
std::uint32_t mtu_on(const Candidate& port, const Settings& settings);

/// "rxe0:1".
std::string port_name(const Candidate& candidate);

/// What libibverbs gives, which it takes back by Release.
template <class T, int (*Release)(T*)>
struct Releasing {
  void operator()(T* what) const { Release(what); }
};
template <class T, int (*Release)(T*)>
using Owned = std::unique_ptr<T, Releasing<T, Release>>;

/// An open device for RDMA, at the port that a trial uses.
class Card {
 public:
  /// Opens the device that the settings and the address of this end ask for. Throws
  /// Failure with the reason when there is none.
  Card(const Settings& settings, const std::string& address);

  const Candidate& port() const { return port_; }
  std::uint32_t mtu_bytes() const { return mtu_bytes_; }
  const ibv_device_attr& limits() const { return limits_; }
  ibv_context& context() const { return *context_; }
  ibv_pd& domain() const { return *domain_; }

 private:
  Candidate port_;
  std::uint32_t mtu_bytes_ = 0;
  ibv_device_attr limits_{};
  Owned<ibv_context, ibv_close_device> context_;
  Owned<ibv_pd, ibv_dealloc_pd> domain_;
};

/// The kernel's word for what the last call left in errno: "open rxe0: Permission denied".
std::string failed(const std::string& what);

/// MTUs as libibverbs counts them.
ibv_mtu mtu_of(std::uint32_t bytes);
std::uint32_t bytes_of(ibv_mtu mtu);

}  // namespace netdyno::verbs
