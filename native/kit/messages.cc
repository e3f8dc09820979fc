#include "kit/messages.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "kit/address.h"

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

namespace {

/// No message is longer than this, in bytes: what wire stream allows a chunk.
constexpr std::int64_t kMaxMessage = 64 << 20;
/// How long the library's two ends may take to find each other.
constexpr int kControlSeconds = 10;

/// Eight bytes that nothing else begins with, then the connection's number.
constexpr std::array<char, 8> kMagic = {'n', 'e', 't', 'd', 'y', 'n', 'o', '\1'};
constexpr std::size_t kGreeting = kMagic.size() + sizeof(std::uint32_t);

void time_out(int fd, int seconds) {
  const timeval limit{seconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

void no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// How many bytes must be there before a socket becomes readable.
void low_water(int fd, int bytes) { setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof bytes); }

[[noreturn]] void refused(const Address& peer, int code) {
  const bool late = code == EINPROGRESS || code == EAGAIN;
  throw Failure(
      late ? ErrorKind::timeout : ErrorKind::peer,
      "connect to " + peer.text() + ": " + (late ? "no answer" : std::generic_category().message(code)));
}

/// A blocking socket of that type, connected along a route.
Descriptor connected(const Route& route, int type) {
  const Endpoint peer = endpoint(route.peer, "setup.peers");
  Descriptor fd(socket(peer.storage.ss_family, type | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) {
    throw Failure(ErrorKind::setup, "open a control socket: " + std::generic_category().message(errno));
  }
  time_out(fd.get(), kControlSeconds);
  if (!route.source.empty()) {
    const Endpoint source = endpoint({route.source, 0}, "setup.sources");
    if (bind(fd.get(), source.get(), source.size) != 0) {
      throw Failure(ErrorKind::setup, "bind " + route.source + ": " + std::generic_category().message(errno));
    }
  }
  if (connect(fd.get(), peer.get(), peer.size) != 0) refused(route.peer, errno);
  return fd;
}

}  // namespace

contract::Setup as_messages(const contract::Setup& setup) {
  contract::Setup messages = setup;
  contract::Exchange& exchange = messages.exchange;
  if (exchange.stream == contract::Stream::none) {
    exchange.chunk_bytes =
        std::clamp<std::int64_t>(std::max(exchange.up_bytes, exchange.down_bytes), 1, kMaxMessage);
  } else if (exchange.chunk_bytes == 0) {
    exchange.chunk_bytes = 64 << 10;
  }
  return messages;
}

std::size_t longest_message(const contract::Setup& as_messages) {
  const contract::Exchange& exchange = as_messages.exchange;
  return static_cast<std::size_t>(
      std::min(exchange.chunk_bytes, std::max(exchange.up_bytes, exchange.down_bytes)));
}

std::string own_host(const contract::Setup& setup) {
  // A datagram socket sends nothing when it connects; the kernel chooses the address.
  const Descriptor probe = connected(routes(setup).front(), SOCK_DGRAM);
  Endpoint own;
  if (getsockname(probe.get(), own.get(), &own.size) != 0) return {};
  return own.address().host;
}

Descriptor dial_control(const contract::Setup& setup, std::int64_t number) {
  const std::vector<Route> all = routes(setup);
  const Route& route = all[static_cast<std::size_t>(number) % all.size()];
  Descriptor control = connected(route, SOCK_STREAM);
  no_delay(control.get());
  std::array<char, kGreeting> greeting{};
  const std::uint32_t wire = htonl(static_cast<std::uint32_t>(number));
  std::copy(kMagic.begin(), kMagic.end(), greeting.begin());
  std::memcpy(greeting.data() + kMagic.size(), &wire, sizeof wire);
  if (::send(control.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL) != kGreeting)
    refused(route.peer, errno);
  return control;
}

void await_greeting(int control) {
  const int status = fcntl(control, F_GETFL);
  fcntl(control, F_SETFL, status & ~O_NONBLOCK);
  no_delay(control);
  time_out(control, kControlSeconds);
  low_water(control, kGreeting);
}

std::uint32_t read_greeting(int control) {
  std::array<char, kGreeting> greeting{};
  const ssize_t n = ::recv(control, greeting.data(), greeting.size(), MSG_DONTWAIT);
  if (n <= 0) throw Failure(ErrorKind::peer, "greet a client: it left without a greeting");
  if (n != kGreeting || !std::equal(kMagic.begin(), kMagic.end(), greeting.begin())) {
    throw Failure(ErrorKind::invalid, "greet a client: it speaks another protocol");
  }
  low_water(control, 1);
  std::uint32_t number = 0;
  std::memcpy(&number, greeting.data() + kMagic.size(), sizeof number);
  return ntohl(number);
}

}  // namespace netdyno
