// Ends of HTTP/2 without sockets, and frames as a fuzzer writes them. Layer: test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kit/contract.h"
#include "test/flow_rig.h"

namespace netdyno::h2::test {

/// What a client says first (RFC 9113, section 3.4).
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// One frame (RFC 9113, section 4.1).
inline std::string frame(char type, char flags, std::uint8_t stream, std::string_view payload) {
  const std::size_t n = payload.size();
  std::string all = {
      static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n), type, flags, 0, 0, 0};
  all += static_cast<char>(stream);
  return all.append(payload);
}

/// Frames from any bytes, so that a fuzzer seldom loses its way in a length: type, flags,
/// stream and length, a byte each, and then the payload.
inline std::string frames(std::string_view bytes) {
  constexpr std::size_t kHead = 4;
  std::string all;
  while (bytes.size() >= kHead) {
    const std::string_view payload = bytes.substr(kHead, static_cast<std::uint8_t>(bytes[3]));
    all += frame(bytes[0], bytes[1], static_cast<std::uint8_t>(bytes[2]), payload);
    bytes.remove_prefix(kHead + payload.size());
  }
  return all;
}

/// Lets two flows converse until both are silent.
inline void converse(Flow& client, Flow& server) {
  using netdyno::test::give;
  using netdyno::test::sent;
  while (client.unsent() || server.unsent()) {
    give(server, sent(client));
    give(client, sent(server));
  }
}

/// Verifies the only connection of a client of work with a server of theirs, which leaves its
/// session to the flow that follows.
inline void verify(const Work& work, const Work& theirs) {
  Traffic traffic;
  const auto server = theirs.server(4096, traffic);
  const auto client = work.verification(0);
  server->begin(0);
  client->begin(0);
  converse(*client, *server);
  netdyno::test::require(client->verified());
}

/// Gives any bytes, in pieces of any size, to the client's flow that follows a verified exchange,
/// to the verified exchange itself, and to the server's flow. None may crash, hold up or count
/// wrong. of makes the work of an end; the reply has down bytes, unless the client takes any length
/// (verify=status), and the request up.
class Ends {
 public:
  using WorkOf = std::unique_ptr<const Work> (*)(const contract::Setup&);

  Ends(WorkOf of, contract::Setup client, contract::Setup server)
      : of_(of),
        client_(std::move(client)),
        server_(of(server)),
        up_(server.exchange.up_bytes),
        down_(server.exchange.down_bytes),
        any_length_(client_.options.at("verify") == "status") {}

  void play(const std::uint8_t* data, std::size_t size) const {
    if (size == 0) return;
    const std::uint64_t seed = data[0];
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string bytes = seed % 4 == 0 ? std::string(rest) : frames(rest);
    client(bytes, seed);
    first_exchange(bytes, seed);
    server(bytes, seed);
  }

 private:
  void client(std::string_view bytes, std::uint64_t seed) const {
    const std::shared_ptr<const Work> work = of_(client_);
    verify(*work, *server_);
    netdyno::test::ClientRig rig(client_, work);
    netdyno::test::play(*rig.flow, bytes, seed);
    // What is counted was asked for, and a lost connection holds no slot.
    const contract::Counts counts = rig.counts();
    netdyno::test::require(rig.agenda.held() == 0);
    // Each byte may end the connection, and each end what is under way and one more.
    netdyno::test::require(counts.exchanges + counts.error_sum() <=
                           static_cast<std::int64_t>(bytes.size() + 1) * (client_.load.in_flight + 2));
    netdyno::test::require(any_length_ ? counts.received_bytes <= static_cast<std::int64_t>(bytes.size())
                                       : counts.received_bytes == down_ * counts.exchanges);
  }

  void first_exchange(std::string_view bytes, std::uint64_t seed) const {
    const std::shared_ptr<const Work> work = of_(client_);
    const auto verification = work->verification(0);
    verification->begin(0);
    try {
      netdyno::test::play(*verification, bytes, seed);
    } catch (const contract::Failure&) {
      return;  // it says what was wrong
    }
  }

  void server(std::string_view bytes, std::uint64_t seed) const {
    Traffic traffic;
    const auto flow = server_->server(seed % 200 + 9, traffic);
    flow->begin(0);
    netdyno::test::give(*flow, kPreface);
    while (!bytes.empty() && flow->fate() == Flow::Fate::open) {
      const std::size_t n = std::min<std::size_t>(bytes.size(), split_mix(seed) % 64 + 1);
      std::string said;
      netdyno::test::give(*flow, bytes.substr(0, n), &said);
      bytes.remove_prefix(n);
    }
    netdyno::test::require(traffic.received.get() == up_ * traffic.exchanges.get());
  }

  WorkOf of_;
  contract::Setup client_;
  std::unique_ptr<const Work> server_;
  std::int64_t up_;
  std::int64_t down_;
  bool any_length_;
};

}  // namespace netdyno::h2::test
