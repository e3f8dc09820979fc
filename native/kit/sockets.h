// TCP sockets as every library's loops receive them: connected and verified for a client,
// listening for a server. They are plain descriptors, so that a library can take them over
// (asio's assign, libevent's evutil_socket_t, io_uring).
//
// Layer: above address, work. None of this runs inside a window. Go counterpart:
// internal/work/wire.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kit/address.h"
#include "kit/contract.h"
#include "kit/system.h"
#include "kit/work.h"

namespace netdyno {

/// Local ports for many connections. To connect, the kernel tries the ports of its range
/// (net.ipv4.ip_local_port_range) one after the other until one is free. Once most are in use,
/// each connection takes hundreds of microseconds. Here each is told a few ports to try, where
/// most are free. Immutable after construction: any thread may use it.
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

/// What to do about EADDRNOTAVAIL, behind the error's own words.
inline constexpr char kNoPort[] =
    "; this host has no free local port for the server's address (each that is closed rests for 60 s) or no "
    "such local address: give several source addresses, offer less, or widen net.ipv4.ip_local_port_range";

/// Begins the connections of a client.
///
/// Immutable after construction: any thread may dial.
class Dialler {
 public:
  /// Throws Failure{setup} for addresses that are none.
  explicit Dialler(const contract::Setup& setup);

  /// A socket that is connecting, for connection number of the client: non-blocking,
  /// without Nagle's delay, close-on-exec. When it could not begin, none, and errno says
  /// why. The kernel chooses the port of a source address at connect
  /// (IP_BIND_ADDRESS_NO_PORT), of many connections each among a few. Throws Failure{setup} as set_buffers
  /// does.
  Descriptor dial(std::int64_t number) const;

  /// Where connection number leads.
  const Endpoint& peer(std::int64_t number) const { return ends(number).peer; }

 private:
  struct Ends {
    Endpoint peer;
    Endpoint source;
    bool bound = false;
  };
  const Ends& ends(std::int64_t number) const {
    return ends_[static_cast<std::size_t>(number) % ends_.size()];
  }

  static bool connects(int fd, const Endpoint& socket);
  bool connects(int fd, std::int64_t number) const;

  std::vector<Ends> ends_;  // by route
  Ports ports_;
  contract::Options options_;
};

/// Options send_buffer and receive_buffer of every transport over TCP: SO_SNDBUF and
/// SO_RCVBUF in bytes. 0 leaves them to the kernel.
std::vector<contract::Option> socket_options();

/// Sets a socket's buffers by the options. Call it before the socket connects or
/// listens, because TCP fixes its window scale then. Throws Failure{setup}.
void set_buffers(int fd, const contract::Options& options);
/// The options with the buffer sizes that the kernel gave fd, where a size was set.
contract::Options effective_options(int fd, const contract::Options& options);

/// How many bytes wake who waits for a socket (SO_RCVLOWAT). One thread.
class LowWater {
 public:
  /// Costs a system call when it changes. Throws Failure{setup}.
  void set(int fd, std::int64_t bytes) {
    if (bytes != bytes_) change(fd, bytes);
  }

 private:
  void change(int fd, std::int64_t bytes);
  std::int64_t bytes_ = 1;
};

/// What all shards of a client count while they connect. Any thread.
struct Opening {
  std::atomic<bool> cancelled{false};
  std::atomic<std::int64_t> asked{0};     // connections of which a request went out
  std::atomic<std::int64_t> again{0};     // how often one went out once more
  std::atomic<std::int64_t> repeated{0};  // first exchanges that were made again

  contract::Sent sent() const { return {.verify = asked, .again = again}; }
};

/// Connects and verifies connections shard, shard + shards, … of a client and
/// returns their sockets in that order: non-blocking, without Nagle's delay,
/// close-on-exec; none for one that ended with its verified exchange (Flow::Fate::over).
/// It counts in opening as it goes, first exchanges that are made again (Work::repeats)
/// included. A bounded number connects at a time, so that
/// the server's backlog does not overflow. The kernel chooses the port of a source
/// address at connect (IP_BIND_ADDRESS_NO_PORT). Throws Failure: peer when a connection
/// is refused or lost, timeout when nothing happens for 10 s, invalid when the reply is
/// wrong, setup when ports or files run out. Each loop's thread may call it for its own
/// shard. Once opening is cancelled it returns no sockets.
std::vector<Descriptor> connect_shard(const contract::Setup& setup, const Work& work, int shard, int shards,
                                      Opening& opening);

/// A server's listening sockets: fds[port][copy], where SO_REUSEPORT lets the copies
/// share a port, and addresses[port] as the ready message names them. If the setup
/// names a port, the others follow it. Non-blocking, close-on-exec. The caller closes
/// them.
struct Listening {
  std::vector<std::vector<int>> fds;
  std::vector<std::string> addresses;
};
/// Throws Failure{setup} when it cannot listen.
Listening listen_on(const contract::Setup& setup, int copies);

/// Who may connect: setup.allow. It counts whom it refuses. Any thread may use it.
class Allowed {
 public:
  /// Throws Failure{setup} for an entry that is no IP address.
  explicit Allowed(const contract::Setup& setup);
  bool accepts(const sockaddr_storage& client) const;
  /// Whether the peer of a connected socket may connect. Ask once for each connection.
  bool accepts(int fd);
  /// Enters those who were refused.
  void add_to(contract::Counts& counts) const;

 private:
  std::set<std::string> allowed_;  // hosts in their shortest form; empty: anyone may connect
  mutable std::mutex mutex_;       // of what follows
  std::int64_t strangers_ = 0;
  std::string first_;
};

/// Sets the same flags on an accepted socket as connect_shard sets on a client's. Its
/// buffers come from its listener. False when the connection is gone already.
bool prepare_accepted(int fd);

}  // namespace netdyno
