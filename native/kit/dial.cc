#include "kit/dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "kit/sockets.h"

namespace netdyno {
namespace {

bool set(int fd, int level, int name) {
  const int on = 1;
  return setsockopt(fd, level, name, &on, sizeof on) == 0;
}

}  // namespace

Dialler::Dialler(const contract::Setup& setup)
    : ports_(setup.load.connections / static_cast<std::int64_t>(routes(setup).size())),
      options_(setup.options) {
  for (const Route& route : routes(setup)) {
    Ends& ends = ends_.emplace_back();
    ends.peer = endpoint(route.peer, "setup.peers");
    ends.bound = !route.source.empty();
    if (ends.bound) ends.source = endpoint({route.source, 0}, "setup.sources");
  }
}

Descriptor Dialler::dial(std::int64_t number) const {
  const Ends& at = ends(number);
  Descriptor socket(::socket(at.peer.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int fd = socket.get();
  if (fd < 0) return {};
  set_buffers(fd, options_);
  // The kernel chooses the port at connect, when it knows both addresses. So a source
  // address carries as many connections per peer as it has ports.
  const bool begins = set(fd, IPPROTO_TCP, TCP_NODELAY) &&
                      (!at.bound || (set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT) &&
                                     bind(fd, at.source.get(), at.source.size) == 0)) &&
                      connects(fd, number);
  if (begins) return socket;
  const int error = errno;  // closing may change it
  socket = Descriptor();
  errno = error;
  return {};
}

bool Dialler::connects(int fd, std::int64_t number) const {
  const Endpoint& peer = ends(number).peer;
  const bool narrowed = ports_.narrow(fd, number / static_cast<std::int64_t>(ends_.size()));
  if (connect(fd, peer.get(), peer.size) == 0 || errno == EINPROGRESS) return true;
  if (!narrowed || errno != EADDRNOTAVAIL) return false;
  Ports::widen(fd);
  return connect(fd, peer.get(), peer.size) == 0 || errno == EINPROGRESS;
}

}  // namespace netdyno
