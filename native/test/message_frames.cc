#include "test/message_frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "kit/address.h"

namespace netdyno::test {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::size_t kHead = sizeof(std::uint32_t);
constexpr std::size_t kRead = 256 << 10;

[[noreturn]] void failed(const std::string& verb) {
  throw Failure(ErrorKind::peer, verb + ": " + std::generic_category().message(errno));
}

bool later() { return errno == EAGAIN || errno == EWOULDBLOCK; }

/// A socket that listens, and its address as the other end can use it.
std::pair<Descriptor, std::string> listening(const MessageTerms& terms, bool unix_socket) {
  Endpoint at;
  if (unix_socket) {
    at.storage.ss_family = AF_UNIX;
    at.size = sizeof(sa_family_t);  // the kernel chooses a name
  } else {
    at = endpoint({terms.host, 0}, "terms.host");
  }
  Descriptor fd(socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(fd.get(), at.get(), at.size) != 0 || listen(fd.get(), 1) != 0) failed("listen");
  at.size = sizeof at.storage;
  if (getsockname(fd.get(), at.get(), &at.size) != 0) failed("listen");
  return {std::move(fd), std::string(reinterpret_cast<const char*>(&at.storage), at.size)};
}

Descriptor connected_to(const std::string& address) {
  Endpoint at;
  at.size = static_cast<socklen_t>(std::min(address.size(), sizeof at.storage));
  std::memcpy(&at.storage, address.data(), at.size);
  Descriptor fd(socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), at.get(), at.size) != 0) failed("connect");
  return fd;
}

}  // namespace

FrameChannel::FrameChannel(Descriptor socket, std::vector<FrameChannel*>& open, Fault fault)
    : socket_(std::move(socket)), open_(open), fault_(fault) {
  open_.push_back(this);
}

FrameChannel::~FrameChannel() { std::erase(open_, this); }

void FrameChannel::send(std::span<const char> message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  for (int i = 0; i < (fault_ == Fault::surplus ? 2 : 1); i++) {
    unsent_.append(reinterpret_cast<const char*>(&size), kHead);
    unsent_.append(message.data(), message.size());
    if (fault_ == Fault::content) unsent_.back() = static_cast<char>(unsent_.back() ^ 1);
  }
  write_rest();
}

bool FrameChannel::write_rest() {
  if (unsent_.empty()) return false;
  const ssize_t n = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && later()) return false;
  if (n < 0) failed("write a message");
  unsent_.erase(0, static_cast<std::size_t>(n));
  return true;
}

bool FrameChannel::read(MessageEngine::Arrivals& arrivals, std::size_t max_message) {
  std::string bytes(kRead, '\0');
  const ssize_t n = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n < 0 && later()) return false;
  if (n < 0) failed("read a message");
  if (n == 0) throw Failure(ErrorKind::peer, "read a message: the other end closed its socket");
  unread_.append(bytes.data(), static_cast<std::size_t>(n));
  std::size_t at = 0;
  for (std::uint32_t size = 0; unread_.size() - at >= kHead; at += kHead + size) {
    std::memcpy(&size, unread_.data() + at, kHead);
    if (size > max_message) throw Failure(ErrorKind::peer, "read a message: it is too long");
    if (unread_.size() - at - kHead < size) break;
    arrivals.arrived(*this, {unread_.data() + at + kHead, size});
  }
  unread_.erase(0, at);
  return true;
}

std::unique_ptr<MessageChannel> FrameEngine::open(int control, std::uint32_t) {
  const bool server = terms_.setup.role == contract::Role::server;
  std::pair<Descriptor, std::string> own;
  if (server) own = listening(terms_, settings_.unix_sockets);
  const std::string theirs = exchange_addresses(control, own.second);
  Descriptor socket;
  if (server) {
    pollfd come{own.first.get(), POLLIN, 0};
    if (poll(&come, 1, 5'000) == 1) socket = Descriptor(accept(own.first.get(), nullptr, nullptr));
    if (socket.get() < 0) throw Failure(ErrorKind::timeout, "accept a channel: nobody connected");
  } else {
    socket = connected_to(theirs);
  }
  const Fault fault = server ? settings_.fault : Fault::none;
  return std::make_unique<FrameChannel>(std::move(socket), open_, fault);
}

bool FrameEngine::progress(Arrivals& arrivals) {
  bool moved = false;
  for (FrameChannel* channel : open_) {
    try {
      if (channel->write_rest()) moved = true;
      if (channel->read(arrivals, terms_.max_message)) moved = true;
    } catch (const Failure& failure) {
      arrivals.lost(*channel, failure.what());
      moved = true;
    }
  }
  return moved;
}

void FrameEngine::wait(std::int64_t until_ns, int wake) {
  std::vector<pollfd> asked = {{wake, POLLIN, 0}};
  for (const FrameChannel* channel : open_) {
    asked.push_back({channel->socket(), static_cast<short>(POLLIN | (channel->full() ? POLLOUT : 0)), 0});
  }
  const std::int64_t left = std::max<std::int64_t>(0, until_ns - now_ns());
  poll(asked.data(), asked.size(), static_cast<int>(left / 1'000'000));
}

}  // namespace netdyno::test
