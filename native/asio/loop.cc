#include "asio/loop.h"

#include <sys/socket.h>

namespace netdyno::asio_worker {

std::string version() {
  return std::to_string(ASIO_VERSION / 100000) + "." + std::to_string(ASIO_VERSION / 100 % 1000) + "." +
         std::to_string(ASIO_VERSION % 100);
}

Tcp protocol_of(int fd) {
  int family = AF_INET;
  socklen_t size = sizeof family;
  getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family == AF_INET6 ? Tcp::v6() : Tcp::v4();
}

Socket take_over(::asio::io_context& context, int fd) {
  Socket socket(context);
  if (fd >= 0) take_over(socket, fd);
  return socket;
}

void take_over(Socket& socket, int fd) {
  socket.assign(protocol_of(fd), fd);
  socket.non_blocking(true);  // asio has to be told, or it waits in write_some
}

}  // namespace netdyno::asio_worker
