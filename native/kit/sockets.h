// TCP sockets as every library's loops begin with them: a client's connected and
// verified, a server's listening. Plain descriptors, so that a library may take
// them over (asio's assign, libevent's evutil_socket_t, io_uring).
//
// Layer: above address, work. None of it runs inside a window.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kit/contract.h"
#include "kit/work.h"

namespace netdyno {

/// Options send_buffer and receive_buffer, which every transport over TCP has:
/// SO_SNDBUF and SO_RCVBUF in bytes, 0 for the kernel's own tuning.
std::vector<contract::Option> socket_options();

/// Sets a socket's buffers as options say; before it connects or listens, which
/// is when TCP's window scale is settled. Throws Failure{setup}.
void set_buffers(int fd, const contract::Json& options);
/// The options with the buffers that the kernel gave fd, where they were asked for.
contract::Json effective_options(int fd, const contract::Json& options);

/// Connects and verifies connections lane, lane + lanes, … of a client and
/// returns their descriptors in that order: non-blocking, no Nagle delay,
/// close-on-exec, the caller's to close. Staggered, so that the server's backlog
/// never overflows; a source's port is chosen at connect (IP_BIND_ADDRESS_NO_PORT).
/// Throws Failure: peer when a connection is refused or lost, timeout when
/// nothing moves for 10 s, invalid when what comes back is wrong, setup when
/// ports or files run out. Each loop's thread may call it for its own lane; once
/// given_up is true it returns none.
std::vector<int> connect_lane(const contract::Setup& setup, const Work& work, int lane, int lanes,
                              const std::atomic<bool>* given_up = nullptr);

/// A server's listening sockets: fds[port][copy], copies of one port joined by
/// SO_REUSEPORT; addresses[port] as ready says them. Those after a given port
/// follow it. Non-blocking, close-on-exec, the caller's to close.
struct Listening {
  std::vector<std::vector<int>> fds;
  std::vector<std::string> addresses;
};
/// Throws Failure{setup} when it cannot listen.
Listening listen_on(const contract::Setup& setup, int copies);

/// Who may connect: setup.allow.
class Allowed {
 public:
  /// Throws Failure{setup} for what is no IP address.
  explicit Allowed(const contract::Setup& setup);
  bool accepts(const sockaddr_storage& client) const;
  /// accepts the peer of a connected socket.
  bool accepts(int fd) const;

 private:
  std::set<std::string> allowed_;  // hosts in their shortest form; empty: everybody
};

/// Makes an accepted socket what connect_lane makes of a client's; its buffers
/// are those of its listener. False when it is gone already.
bool prepare_accepted(int fd);

}  // namespace netdyno
