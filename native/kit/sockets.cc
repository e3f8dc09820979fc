#include "kit/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>

#include "kit/options.h"
#include "kit/random.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;
using contract::Options;

namespace {

/// With fewer connections the kernel's search is quick.
constexpr std::int64_t kMany = 4'096;
/// Ports that one connection may have. Some may be another process's, or be left over from
/// connections that ended a minute ago.
constexpr std::uint32_t kWindow = 64;

/// Linux 6.3; absent from older headers. Its value holds the last port and the first one,
/// 16 bits each.
constexpr int kLocalPortRange = 51;

bool set_range(int fd, std::uint32_t range) {
  return setsockopt(fd, IPPROTO_IP, kLocalPortRange, &range, sizeof range) == 0;
}

}  // namespace

Ports::Ports(std::int64_t connections) {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  if (connections < kMany || !(range >> first >> last) || last > 0xffff || last < first + kWindow) return;
  first_ = first;
  count_ = last - first + 1 - kWindow;
  auto state = static_cast<std::uint64_t>(getpid());  // several clients begin apart
  start_ = static_cast<std::uint32_t>(split_mix(state) % count_);
}

bool Ports::narrow(int fd, std::int64_t i) const {
  if (count_ == 0) return false;
  const std::uint32_t low = first_ + (start_ + static_cast<std::uint32_t>(i)) % count_;
  return set_range(fd, (low + kWindow - 1) << 16 | low);
}

void Ports::widen(int fd) { set_range(fd, 0); }

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
    ends.bound = !route.source.empty() && !route.peer.is_socket();
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
  const bool tcp = at.peer.storage.ss_family != AF_UNIX;
  const bool begins = (!tcp || set(fd, IPPROTO_TCP, TCP_NODELAY)) &&
                      (!at.bound || (set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT) &&
                                     bind(fd, at.source.get(), at.source.size) == 0)) &&
                      connects(fd, number);
  if (begins) return socket;
  const int error = errno;  // closing may change it
  socket = Descriptor();
  errno = error;
  return {};
}

/// Connects to a Unix socket. Where the server's queue of waiting connections is full, the kernel refuses
/// at once one that it would let wait over TCP, so this waits a little in its place.
bool Dialler::connects(int fd, const Endpoint& socket) {
  constexpr int kTries = 20;
  constexpr timespec kPause{0, 1'000'000};
  for (int i = 0; i < kTries; i++) {
    if (connect(fd, socket.get(), socket.size) == 0) return true;
    if (errno != EAGAIN) return false;
    nanosleep(&kPause, nullptr);
  }
  errno = EAGAIN;
  return false;
}

bool Dialler::connects(int fd, std::int64_t number) const {
  const Endpoint& peer = ends(number).peer;
  if (peer.storage.ss_family == AF_UNIX) return connects(fd, peer);
  const bool narrowed = ports_.narrow(fd, number / static_cast<std::int64_t>(ends_.size()));
  if (connect(fd, peer.get(), peer.size) == 0 || errno == EINPROGRESS) return true;
  if (!narrowed || errno != EADDRNOTAVAIL) return false;
  Ports::widen(fd);
  return connect(fd, peer.get(), peer.size) == 0 || errno == EINPROGRESS;
}

namespace {

constexpr int kBacklog = 16'384;  // the kernel lowers it to net.core.somaxconn
constexpr std::int64_t kMaxBuffer = 1 << 30;
constexpr int kPorts = 65'536;

constexpr char kSendBuffer[] = "send_buffer";
constexpr char kReceiveBuffer[] = "receive_buffer";

bool set(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof value) == 0;
}

[[noreturn]] void refuse(const Address& address, int code) {
  const std::string hint = code == EADDRINUSE ? "; let netdyno choose the port (port 0)" : "";
  throw Failure(ErrorKind::setup,
                "listen on " + address.text() + ": " + std::generic_category().message(code) + hint);
}

/// One listening socket; an address with port 0 is given one of the kernel's choice.
Descriptor listen_at(Address& address, const Options& options, bool shared_port) {
  Endpoint at = endpoint(address, "setup.listen");
  Descriptor fd(socket(at.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) refuse(address, errno);
  set_buffers(fd.get(), options);
  const bool listens = set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1) &&
                       (!shared_port || set(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1)) &&
                       bind(fd.get(), at.get(), at.size) == 0 && listen(fd.get(), kBacklog) == 0 &&
                       getsockname(fd.get(), at.get(), &at.size) == 0;
  if (!listens) refuse(address, errno);
  address = at.address();
  return fd;
}

}  // namespace

std::vector<contract::Option> socket_options() {
  const Range range{0, 0, kMaxBuffer};
  const auto tried = [&range](const char* name, const std::string& socket, const std::string& sysctl,
                              const std::string& doc) {
    const std::string as = "setsockopt(" + socket + ", {value}), sysctl " + sysctl + "={value} or more";
    return raced(bytes_option(name, range, doc), {"256KiB", "4MiB"},
                 {{contract::Role::server, as}, {contract::Role::client, as}});
  };
  return {tried(kSendBuffer, "SO_SNDBUF", "net.core.wmem_max",
                "the socket's send buffer, SO_SNDBUF; 0 leaves it to the kernel"),
          tried(kReceiveBuffer, "SO_RCVBUF", "net.core.rmem_max",
                "the socket's receive buffer, SO_RCVBUF; 0 leaves it to the kernel")};
}

void set_buffers(int fd, const Options& options) {
  for (const auto& [key, name] : {std::pair{kSendBuffer, SO_SNDBUF}, {kReceiveBuffer, SO_RCVBUF}}) {
    const auto bytes = options.value(key, std::int64_t{0});
    if (bytes == 0 || set(fd, SOL_SOCKET, name, static_cast<int>(bytes))) continue;
    throw Failure(ErrorKind::setup, "set option " + std::string(key) + " to " + std::to_string(bytes) + ": " +
                                        std::generic_category().message(errno));
  }
}

void LowWater::change(int fd, std::int64_t bytes) {
  if (!netdyno::set(fd, SOL_SOCKET, SO_RCVLOWAT, static_cast<int>(bytes))) {
    throw Failure(ErrorKind::setup, "set option lowat to " + std::to_string(bytes) + ": " +
                                        std::generic_category().message(errno));
  }
  bytes_ = bytes;
}

Options effective_options(int fd, const Options& options) {
  Options effective = options;
  for (const auto& [key, name] : {std::pair{kSendBuffer, SO_SNDBUF}, {kReceiveBuffer, SO_RCVBUF}}) {
    if (options.value(key, std::int64_t{0}) == 0) continue;
    int bytes = 0;
    socklen_t size = sizeof bytes;
    // The kernel doubles what it is asked for, to have room for its own records (socket(7)).
    if (getsockopt(fd, SOL_SOCKET, name, &bytes, &size) == 0) effective[key] = bytes / 2;
  }
  return effective;
}

Listening listen_on(const contract::Setup& setup, int copies) {
  const Address first = parse_address(setup.listen.empty() ? "127.0.0.1:0" : setup.listen, "setup.listen");
  if (first.port != 0 && first.port + setup.listeners > kPorts) {
    throw Failure(ErrorKind::setup, "setup.listen has port " + std::to_string(first.port) + " for " +
                                        std::to_string(setup.listeners) + " listeners, expected at most " +
                                        std::to_string(kPorts - setup.listeners) + ", or port 0");
  }
  std::vector<std::vector<Descriptor>> open;
  Listening listening;
  for (std::int64_t port = 0; port < setup.listeners; port++) {
    Address address = first;
    if (first.port != 0) address.port = static_cast<std::uint16_t>(first.port + port);
    auto& copies_of_it = open.emplace_back();
    for (int copy = 0; copy < copies; copy++) {
      copies_of_it.push_back(listen_at(address, setup.options, copies > 1));
    }
    listening.addresses.push_back(address.text());
  }
  for (auto& port : open) {
    auto& fds = listening.fds.emplace_back();
    for (Descriptor& fd : port) fds.push_back(fd.release());
  }
  return listening;
}

Allowed::Allowed(const contract::Setup& setup) {
  for (const std::string& client : setup.allow) {
    allowed_.insert(endpoint({client, 0}, "setup.allow").address().host);
  }
}

bool Allowed::accepts(const sockaddr_storage& client) const {
  return allowed_.empty() || allowed_.contains(Endpoint{client}.address().host);
}

bool Allowed::accepts(int fd) {
  if (allowed_.empty()) return true;
  Endpoint client;
  if (getpeername(fd, client.get(), &client.size) != 0) return false;  // it has left
  if (accepts(client.storage)) return true;
  const std::lock_guard lock(mutex_);
  if (strangers_++ == 0) first_ = client.address().host;
  return false;
}

void Allowed::add_to(contract::Counts& counts) const {
  const std::lock_guard lock(mutex_);
  counts.strangers = strangers_;
  counts.first_stranger = first_;
}

bool prepare_accepted(int fd) {
  const int status = fcntl(fd, F_GETFL);
  return status >= 0 && fcntl(fd, F_SETFL, status | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
         set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

}  // namespace netdyno
