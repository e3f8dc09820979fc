#include "kit/messages.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// The longest address that is taken from the other end, in bytes.
constexpr std::uint32_t kMaxAddress = 64 << 10;

[[noreturn]] void failed(const std::string& verb, ssize_t n) {
  if (n == 0) throw Failure(ErrorKind::peer, verb + ": the other end closed the control socket");
  if (errno == EAGAIN || errno == EWOULDBLOCK) throw Failure(ErrorKind::timeout, verb + ": nothing came");
  throw Failure(ErrorKind::peer, verb + ": " + std::generic_category().message(errno));
}

void send_all(int fd, const void* bytes, std::size_t size) {
  const ssize_t n = ::send(fd, bytes, size, MSG_NOSIGNAL);
  if (n != static_cast<ssize_t>(size)) failed("send this end's address", n < 0 ? n : 0);
}

void receive_all(int fd, void* bytes, std::size_t size) {
  const ssize_t n = ::recv(fd, bytes, size, MSG_WAITALL);
  if (n != static_cast<ssize_t>(size)) failed("receive the other end's address", n < 0 ? n : 0);
}

}  // namespace

std::string exchange_addresses(int control, const std::string& mine) {
  std::string line(sizeof(std::uint32_t), '\0');
  const std::uint32_t size = htonl(static_cast<std::uint32_t>(mine.size()));
  std::memcpy(line.data(), &size, sizeof size);
  line += mine;
  send_all(control, line.data(), line.size());
  std::uint32_t theirs = 0;
  receive_all(control, &theirs, sizeof theirs);
  theirs = ntohl(theirs);
  if (theirs > kMaxAddress) {
    throw Failure(ErrorKind::invalid, "receive the other end's address: it says " + std::to_string(theirs) +
                                          " bytes, expected at most " + std::to_string(kMaxAddress));
  }
  std::string address(theirs, '\0');
  if (theirs > 0) receive_all(control, address.data(), address.size());
  return address;
}

}  // namespace netdyno
