#include "asio/connection.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace netdyno::asio_worker {

namespace {

int new_event() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd >= 0) return fd;
  throw contract::Failure(contract::ErrorKind::setup,
                          "make an eventfd: " + std::generic_category().message(errno));
}

}  // namespace

Waker::Waker(::asio::io_context& context) : event_(context, new_event()) {}

/// A full counter wakes all the same.
void Waker::wake() {
  const std::uint64_t one = 1;
  if (write(event_.native_handle(), &one, sizeof one) < 0) return;
}

void Waker::clear() {
  std::uint64_t count = 0;
  if (read(event_.native_handle(), &count, sizeof count) < 0) return;
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
