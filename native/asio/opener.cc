#include "asio/opener.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace netdyno::asio_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Connections under way on one loop, and the bytes of their messages.
constexpr std::int64_t kMaxUnderWay = 256;
constexpr std::int64_t kMaxBytesUnderWay = 64 << 20;

/// Nothing connected or verified for this long: the peer is silent.
constexpr auto kPatience = std::chrono::seconds(10);

using NoBindPort = ::asio::detail::socket_option::boolean<IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT>;

}  // namespace

/// All openings of one lane; lives on its loop's thread for the time of one open.
class Opening {
 public:
  Opening(const Opener& opener, ::asio::io_context& context, int lane)
      : opener_(opener), context_(context), lane_(lane), patience_(context) {
    const std::int64_t n = (opener.connections_ - lane + opener.lanes_ - 1) / opener.lanes_;
    for (std::int64_t i = 0; i < n; i++) sockets_.emplace_back(context);
  }

  std::vector<Socket> run() {
    const auto size = static_cast<std::int64_t>(opener_.payload_.size());
    const auto under_way = std::clamp<std::int64_t>(kMaxBytesUnderWay / size, 1, kMaxUnderWay);
    for (std::int64_t i = 0; i < under_way; i++) begin_next();
    wait();
    context_.run();
    return std::move(sockets_);
  }

 private:
  /// One connection under way; kept alive by its handlers.
  struct Attempt {
    std::size_t index;
    EchoPayload::Stamped message;
    std::unique_ptr<char[]> answer;
    std::size_t arrived = 0;
  };
  using Shared = std::shared_ptr<Attempt>;

  std::int64_t number(const Attempt& attempt) const {
    return lane_ + static_cast<std::int64_t>(attempt.index) * opener_.lanes_;
  }
  const Opener::Endpoints& route(const Attempt& attempt) const {
    return opener_.routes_[static_cast<std::size_t>(number(attempt)) % opener_.routes_.size()];
  }

  void begin_next() {
    if (begun_ == sockets_.size()) return;
    const auto attempt = std::make_shared<Attempt>();
    attempt->index = begun_++;
    Socket& socket = sockets_[attempt->index];
    const Opener::Endpoints& ends = route(*attempt);
    std::error_code error;
    socket.open(ends.peer.protocol(), error);
    if (!error) socket.set_option(Tcp::no_delay(true), error);
    if (!error && ends.bound) {
      // The port is chosen at connect, when the whole four-tuple is known: a
      // source address then carries as many connections per peer as it has ports.
      socket.set_option(NoBindPort(true), error);
      if (!error) socket.bind(ends.source, error);
    }
    if (error) refuse(*attempt, "connect", error);
    socket.async_connect(ends.peer, [this, attempt](const std::error_code& failed) {
      if (failed) refuse(*attempt, "connect", failed);
      verify(attempt);
    });
  }

  void verify(const Shared& attempt) {
    const EchoPayload& payload = opener_.payload_;
    Socket& socket = sockets_[attempt->index];
    attempt->message = payload.stamped(number(*attempt));
    attempt->answer = std::make_unique_for_overwrite<char[]>(payload.size());
    const std::array<::asio::const_buffer, 2> message = {
        ::asio::buffer(attempt->message.stamp.data(), attempt->message.stamp_size),
        ::asio::buffer(payload.after_stamp().data(), payload.after_stamp().size())};
    ::asio::async_write(socket, message, [this, attempt](const std::error_code& failed, std::size_t) {
      if (failed) refuse(*attempt, "write to", failed);
    });
    read(attempt);
  }

  void read(const Shared& attempt) {
    const std::size_t size = opener_.payload_.size();
    sockets_[attempt->index].async_read_some(
        ::asio::buffer(attempt->answer.get() + attempt->arrived, size - attempt->arrived),
        [this, attempt, size](const std::error_code& failed, std::size_t n) {
          attempt->arrived += n;
          moved_ = true;
          if (failed == ::asio::error::eof) return compare(*attempt);
          if (failed) refuse(*attempt, "read from", failed);
          attempt->arrived == size ? compare(*attempt) : read(attempt);
        });
  }

  void compare(const Attempt& attempt) {
    opener_.payload_.verify(number(attempt), attempt.message, {attempt.answer.get(), attempt.arrived});
    sockets_[attempt.index].non_blocking(true);
    if (++verified_ == sockets_.size()) patience_.cancel();  // the context runs out of work
    begin_next();
  }

  void wait() {
    patience_.expires_after(kPatience);
    patience_.async_wait([this](const std::error_code& cancelled) {
      if (cancelled) return;
      if (!std::exchange(moved_, false)) {
        throw Failure(ErrorKind::timeout, "verify connections: " + std::to_string(verified_) + " of " +
                                              std::to_string(sockets_.size()) +
                                              " done and nothing came for " +
                                              std::to_string(kPatience.count()) + " s");
      }
      wait();
    });
  }

  [[noreturn]] void refuse(const Attempt& attempt, const std::string& verb,
                           const std::error_code& error) const {
    ErrorKind kind = ErrorKind::peer;
    std::string hint;
    if (error == std::errc::too_many_files_open) {
      kind = ErrorKind::setup;
      hint = "; " + std::to_string(opener_.connections_) + " connections need as many, raise `ulimit -n`";
    } else if (error == std::errc::address_not_available) {
      kind = ErrorKind::setup;
      hint =
          "; no free local port or no such local address: give several source addresses, or widen "
          "net.ipv4.ip_local_port_range";
    } else if (error == std::errc::connection_refused) {
      hint = "; nothing listens there";
    }
    const Tcp::endpoint& peer = route(attempt).peer;
    const Address address{peer.address().to_string(), peer.port()};
    throw Failure(kind, "connection " + std::to_string(number(attempt)) + " of " +
                            std::to_string(opener_.connections_) + ": " + verb + " " + address.text() + ": " +
                            error.message() + hint);
  }

  const Opener& opener_;
  ::asio::io_context& context_;
  std::int64_t lane_;
  ::asio::steady_timer patience_;
  std::vector<Socket> sockets_;
  std::size_t begun_ = 0;
  std::size_t verified_ = 0;
  bool moved_ = false;
};

Opener::Opener(const contract::Setup& setup, const EchoPayload& payload, int lanes)
    : payload_(payload), lanes_(lanes), connections_(setup.load.connections) {
  for (const Route& route : netdyno::routes(setup)) {
    Endpoints ends;
    ends.peer = Tcp::endpoint(to_ip(route.peer.host, "setup.peers"), route.peer.port);
    ends.bound = !route.source.empty();
    if (ends.bound) ends.source = Tcp::endpoint(to_ip(route.source, "setup.sources"), 0);
    routes_.push_back(ends);
  }
}

std::vector<Socket> Opener::open(::asio::io_context& context, int lane) const {
  return Opening(*this, context, lane).run();
}

}  // namespace netdyno::asio_worker
