// Ends of encrypted connections that do what a fuzzer's input says. Layer: test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kit/options.h"
#include "test/flow_rig.h"
#include "tls/context.h"
#include "tls/test_calls.h"
#include "tls/test_driven.h"
#include "tls/test_peer.h"
#include "tls/work.h"

namespace netdyno::tls::fuzz {

using test::Calls;
using test::Driven;
using test::kCall;
using test::Peer;
using test::require;

/// An outsider agrees to none, which is taken for this one.
inline constexpr char kProtocol[] = "http/1.1";
/// Exchanges that a client makes after the verified one.
inline constexpr int kAmount = 20;

/// What the input decides, a byte at a time; zeros once it is used up.
class Choices {
 public:
  explicit Choices(std::string_view input) : left_(input) {}

  bool is_used_up() const { return left_.empty(); }
  std::uint8_t next() {
    if (left_.empty()) return 0;
    const char first = left_.front();
    left_.remove_prefix(1);
    return static_cast<std::uint8_t>(first);
  }
  /// Below n, which is positive.
  std::size_t below(std::size_t n) {
    const std::size_t high = next();
    return (high << 8 | next()) % n;
  }
  std::string_view bytes(std::size_t most) {
    const std::string_view taken = left_.substr(0, most);
    left_.remove_prefix(taken.size());
    return taken;
  }
  /// A record, so that a fuzzer seldom loses its way in a length: type, length, and then the
  /// payload (RFC 8446, section 5.1).
  std::string record() {
    std::string made = {static_cast<char>(next()), 3, 3, 0};
    const std::string_view payload = bytes(next());
    made += static_cast<char>(payload.size());
    return made.append(payload);
  }

 private:
  std::string_view left_;
};

/// One end of a connection. A failure of a client's ends the trial.
class Party {
 public:
  Party() = default;
  virtual ~Party() = default;
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  virtual std::string says(std::size_t most) = 0;
  /// Returns how many of the bytes it took.
  virtual std::size_t takes(std::string_view bytes) = 0;
  /// The connection has ended.
  virtual void ends() {}
  virtual bool is_gone() const { return false; }
  /// Begins another connection in place of one that is gone. False if it wants none.
  virtual bool reopens() { return false; }
  /// Does of itself what the input says.
  virtual void acts(Choices&) {}
};

/// Which ends an input tries.
struct Kind {
  bool calls;    // the wire is test_calls.h's, else echo
  bool foreign;  // the client speaks TLS 1.2, too, and takes any certificate

  std::size_t message() const { return calls ? 1 : 10; }
};

inline const contract::Tls& own() {
  static const contract::Tls kOwn = test::certificate();
  return kOwn;
}

inline contract::Setup setup_of(contract::Role role, const Kind& kind) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange.up_bytes = setup.exchange.down_bytes = static_cast<std::int64_t>(kind.message());
  setup.peers = {"127.0.0.1:8080"};
  setup.load.connections = 1;
  setup.load.in_flight = 3;
  setup.load.amount = kAmount;
  setup.tls = own();
  contract::Transport transport;
  transport.options = trust_options();
  setup.options = complete_options(
      transport, role,
      role == contract::Role::client ? contract::Options{{"insecure", kind.foreign}} : contract::Options{});
  return setup;
}

inline std::unique_ptr<const Work> work_of(const contract::Setup& setup, const Kind& kind) {
  return over(setup, kProtocol, kind.calls ? std::make_unique<const Calls>(kAmount) : Work::of(setup));
}

/// What all servers of a conversation counted.
struct Totals {
  std::int64_t exchanges = 0;
  std::int64_t invalid = 0;
};

class Server final : public Party {
 public:
  Server(const Kind& kind, std::size_t buffer, Totals& totals)
      : totals_(totals),
        flow_(work(kind).server(buffer, traffic_)),
        driven_((flow_->begin(0), *flow_), contract::Role::server) {}
  ~Server() override {
    require(traffic_.connections.get() == 1);
    flow_.reset();
    require(traffic_.connections.get() == 0);
    require(traffic_.invalid.get() == 0 || traffic_.invalid.get() == 1);
    require(0 <= traffic_.exchanges.get() && traffic_.exchanges.get() <= traffic_.sent.get());
    require(traffic_.sent.get() <= traffic_.received.get());
    totals_.exchanges += traffic_.exchanges.get();
    totals_.invalid += traffic_.invalid.get();
  }

  std::string says(std::size_t most) override { return driven_.says(most); }
  std::size_t takes(std::string_view bytes) override { return driven_.takes(bytes); }
  void ends() override { driven_.ends(); }
  bool is_gone() const override { return driven_.is_gone(); }

 private:
  static const Work& work(const Kind& kind) {
    static const auto kEcho = work_of(setup_of(contract::Role::server, {false, false}), {false, false});
    static const auto kCalls = work_of(setup_of(contract::Role::server, {true, false}), {true, false});
    return kind.calls ? *kCalls : *kEcho;
  }

  Totals& totals_;
  Traffic traffic_;
  std::unique_ptr<Flow> flow_;
  Driven driven_;
};

/// The verified exchange of a connection, and then its load.
class Client final : public Party {
 public:
  explicit Client(const Kind& kind)
      : setup_(setup_of(contract::Role::client, kind)),
        work_(work_of(setup_, kind)),
        verification_(work_->verification(0)) {
    verification_->begin(0);
    driven_.emplace(*verification_, contract::Role::client);
  }
  ~Client() override {
    if (!rig_) return;
    rig_->flow->abandon(contract::ErrorKind::peer, 9);
    require(rig_->agenda.held() == 0);
    const contract::Counts counts = rig_->counts();
    require(0 <= counts.exchanges && counts.exchanges <= kAmount);
    require(counts.error_sum() <= setup_.load.in_flight);
    require(counts.received_bytes == setup_.exchange.down_bytes * counts.exchanges);
  }

  std::string says(std::size_t most) override {
    std::string all = driven_->says(most);
    goes_on();
    return all;
  }
  std::size_t takes(std::string_view bytes) override {
    const std::size_t n = driven_->takes(bytes);
    goes_on();
    return n;
  }
  void ends() override {
    driven_->ends();
    goes_on();
  }
  bool is_gone() const override { return driven_->is_gone(); }
  bool reopens() override {
    if (!rig_ || !driven_->wants()) return false;
    driven_->reopens();
    return true;
  }

  bool is_verified() const { return rig_.has_value(); }

 private:
  void goes_on() {
    if (rig_ || !verification_->verified()) return;
    const bool connected = verification_->fate() == Flow::Fate::open;
    verification_.reset();
    rig_.emplace(setup_, work_);
    driven_.emplace(*rig_->flow, contract::Role::client, connected);
  }

  contract::Setup setup_;
  std::shared_ptr<const Work> work_;
  std::unique_ptr<Work::Verification> verification_;
  std::optional<netdyno::test::ClientRig> rig_;
  std::optional<Driven> driven_;
};

/// The library by itself, which does what an end of netdyno never does. A server echoes,
/// and has a ticket follow every reply.
class Outsider final : public Party {
 public:
  /// A client.
  Outsider() : peer_(nullptr, kProtocol) {}
  /// A server of messages of that size.
  Outsider(int version, std::size_t message, Totals& totals)
      : peer_(&own(), kProtocol), message_(message), totals_(&totals) {
    SSL_set_max_proto_version(peer_.ssl(), version);
    peer_.fragment_tickets();
  }
  ~Outsider() override {
    if (totals_ != nullptr) totals_->exchanges += static_cast<std::int64_t>(peer_.heard().size() / message_);
  }

  std::string says(std::size_t) override { return peer_.outgoing(); }
  std::size_t takes(std::string_view bytes) override {
    const std::size_t before = peer_.heard().size();
    peer_.take(bytes);
    if (totals_ == nullptr || peer_.heard().size() == before) return bytes.size();
    peer_.say(peer_.heard().substr(before));
    SSL_new_session_ticket(peer_.ssl());  // which follows at once
    SSL_do_handshake(peer_.ssl());
    ERR_clear_error();
    return bytes.size();
  }
  void acts(Choices& choices) override {
    const std::uint8_t what = choices.next();
    switch (what % 8) {
      case 0:
      case 1:
      case 2:
        return peer_.say(choices.bytes(what / 8 + 1));
      case 3:
        return peer_.say(std::string(choices.below(40'000) + 1, kCall));
      case 4:
        return asks_for_keys(choices.next(), SSL_KEY_UPDATE_REQUESTED);
      case 5:
        return asks_for_keys(choices.next(), SSL_KEY_UPDATE_NOT_REQUESTED);
      case 6:
        SSL_renegotiate(peer_.ssl());
        SSL_do_handshake(peer_.ssl());
        break;
      default:
        SSL_shutdown(peer_.ssl());
    }
    ERR_clear_error();
  }

 private:
  void asks_for_keys(int times, int how) {
    for (int i = 0; i < times && asked_ < kMostAsked; i++, asked_++) {
      if (SSL_key_update(peer_.ssl(), how) != 1) break;
      SSL_do_handshake(peer_.ssl());
    }
    ERR_clear_error();
  }

  /// Answers to so many go beyond what a session gathers.
  static constexpr int kMostAsked = 3'000;

  Peer peer_;
  std::size_t message_ = 1;
  Totals* totals_ = nullptr;  // a server's
  int asked_ = 0;
};

}  // namespace netdyno::tls::fuzz
