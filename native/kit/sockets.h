// TCP sockets as every library's loops receive them: connected and verified for a
// client, listening for a server. They are plain descriptors, so that a library can
// take them over (asio's assign, libevent's evutil_socket_t, io_uring).
//
// Layer: above address, work. None of this runs inside a window.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kit/contract.h"
#include "kit/descriptor.h"
#include "kit/work.h"

namespace netdyno {

/// Options send_buffer and receive_buffer of every transport over TCP: SO_SNDBUF and
/// SO_RCVBUF in bytes. 0 leaves them to the kernel.
std::vector<contract::Option> socket_options();

/// Sets a socket's buffers by the options. Call it before the socket connects or
/// listens, because TCP fixes its window scale then. Throws Failure{setup}.
void set_buffers(int fd, const contract::Json& options);
/// The options with the buffer sizes that the kernel gave fd, where a size was set.
contract::Json effective_options(int fd, const contract::Json& options);

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

/// Who may connect: setup.allow.
class Allowed {
 public:
  /// Throws Failure{setup} for an entry that is no IP address.
  explicit Allowed(const contract::Setup& setup);
  bool accepts(const sockaddr_storage& client) const;
  /// Whether the peer of a connected socket may connect.
  bool accepts(int fd) const;

 private:
  std::set<std::string> allowed_;  // hosts in their shortest form; empty: anyone may connect
};

/// Sets the same flags on an accepted socket as connect_shard sets on a client's. Its
/// buffers come from its listener. False when the connection is gone already.
bool prepare_accepted(int fd);

}  // namespace netdyno
