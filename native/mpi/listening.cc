#include "mpi/listening.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "kit/address.h"

namespace netdyno::mpi_worker {

namespace {

/// Where listening is allowed, by family; unspecified before there was a word of it.
sockaddr_in own4{};
sockaddr_in6 own6{};

}  // namespace

void listen_only_at(const std::string& host) {
  own4.sin_family = AF_INET;
  own4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  own6.sin6_family = AF_INET6;
  own6.sin6_addr = in6addr_loopback;
  const Endpoint at = endpoint({host, 0}, "the trial's address");
  if (at.get()->sa_family == AF_INET) std::memcpy(&own4, at.get(), sizeof own4);
  if (at.get()->sa_family == AF_INET6) std::memcpy(&own6, at.get(), sizeof own6);
}

}  // namespace netdyno::mpi_worker

/// In the place of the C library's, for this program and every library in it.
extern "C" int bind(int fd, const sockaddr* at, socklen_t size) noexcept {
  using namespace netdyno::mpi_worker;
  sockaddr_in at4{};
  sockaddr_in6 at6{};
  if (at != nullptr && size >= sizeof at4 && at->sa_family == AF_INET && own4.sin_family == AF_INET) {
    std::memcpy(&at4, at, sizeof at4);
    if (at4.sin_addr.s_addr == htonl(INADDR_ANY)) {
      at4.sin_addr = own4.sin_addr;
      at = reinterpret_cast<const sockaddr*>(&at4);
    }
  } else if (at != nullptr && size >= sizeof at6 && at->sa_family == AF_INET6 &&
             own6.sin6_family == AF_INET6) {
    std::memcpy(&at6, at, sizeof at6);
    if (IN6_IS_ADDR_UNSPECIFIED(&at6.sin6_addr)) {
      at6.sin6_addr = own6.sin6_addr;
      at6.sin6_scope_id = own6.sin6_scope_id;
      at = reinterpret_cast<const sockaddr*>(&at6);
    }
  }
  return static_cast<int>(syscall(SYS_bind, fd, at, size));
}
