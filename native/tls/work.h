// TLS 1.3 around the work of any wire over TCP, by OpenSSL. Where that library is not
// installed, absent.cc takes the place of the rest: no transport has the feature then.
//
// Layer: above session. Only its loop's thread uses a flow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/flow.h"
#include "kit/system.h"
#include "kit/work.h"
#include "tls/session.h"

namespace netdyno::tls {

/// A flow that encrypts another: what the other sends and receives is the plain text of what this
/// one does. The other is asked for bytes when they are to be sent, and told that they were
/// written once they are encrypted. What came is decrypted straight into its buffer. It learns
/// nothing of the handshake: while that lasts it is neither asked nor given anything. Where its
/// fate is over, this one says so to the peer first (close_notify).
class TlsFlow final : public Flow {
 public:
  /// A client's. context outlives the flow. session is one on which an exchange was verified, or that
  /// begins; none where the connection is over. told is a slot that is told of handshakes, or none.
  TlsFlow(const Context& context, Remote remote, std::unique_ptr<Flow> inner,
          std::unique_ptr<Session> session, Slot* told = nullptr);
  /// A server's. context and traffic outlive the flow.
  TlsFlow(const Context& context, std::unique_ptr<Flow> inner, Traffic& traffic);

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override;

  bool unsent() const override;
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override;
  void received(std::size_t n, std::int64_t now) override;

  Fate fate() const override;
  bool ended(std::int64_t now) override;
  void reopened(std::int64_t now) override;
  void made() override {
    if (told_ != nullptr) made_ns_ = now_ns();
  }
  void abandon(contract::ErrorKind kind, std::int64_t now) override;
  void belong(void* connection) override {
    Flow::belong(connection);
    inner_->belong(connection);
  }

  /// The session, for another flow to go on with it. This one is of no use any more.
  std::unique_ptr<Session> release() { return std::move(session_); }
  /// Of the present connection. Only while there is one.
  const Session& session() const { return *session_; }

 private:
  using State = Session::State;

  bool is_server() const { return traffic_ != nullptr; }
  /// Whether there is a connection that may carry something.
  bool is_up() const { return session_ != nullptr && !gone_; }
  bool speaks() const;
  bool parts() const;
  void take_in(std::int64_t now);
  void farewell(std::int64_t now);

  const Context& context_;
  Remote remote_;
  Traffic* traffic_ = nullptr;  // a server's
  std::unique_ptr<Flow> inner_;
  Slot* told_ = nullptr;
  // A kernel may still be sending from it after the connection is gone, until another begins.
  std::unique_ptr<Session> session_;
  std::size_t read_size_ = 0;
  std::int64_t now_ = 0;
  std::int64_t made_ns_ = 0;  // when the connection was there that is made anew; where that is told
  bool gone_ = false;         // the peer ended the connection
  bool lost_ = false;         // and that cannot be followed
};

/// work itself for a plain trial, else work that is encrypted. protocol is the wire's name in
/// ALPN. Throws Failure{setup} for certificates or a key that cannot be used.
std::unique_ptr<const Work> over(const contract::Setup& setup, std::string_view protocol,
                                 std::unique_ptr<const Work> work);

/// Adds to a transport's features and options, and to a worker's libraries, what this brings.
std::vector<std::string> with_tls(std::vector<std::string> features);
std::vector<contract::Option> with_trust(std::vector<contract::Option> options);
std::vector<contract::Library> with_library(std::vector<contract::Library> libraries);

/// The 32 bytes of a text's SHA-256; none without OpenSSL.
std::string sha256(std::string_view text);

/// The first exchange of an encrypted connection of a client, and the handshake before it. Its session is
/// handed on to the flow that carries the load.
class Verification final : public Work::Verification, Pinned {
 public:
  /// context outlives this. to takes the session once the exchange is verified and the connection
  /// goes on; it outlives this.
  Verification(const Context& context, const Remote& remote, std::unique_ptr<Work::Verification> inner,
               std::unique_ptr<Session>& to);
  ~Verification() override;

  void begin(std::int64_t now) override { flow_.begin(now); }
  void send(std::uint32_t slot) override { flow_.send(slot); }
  bool unsent() const override { return flow_.fate() == Fate::open && flow_.unsent(); }
  std::span<const char> outgoing(std::int64_t now) override { return flow_.outgoing(now); }
  void written(std::size_t n) override { flow_.written(n); }
  std::span<char> read_buffer() override { return flow_.read_buffer(); }
  /// Throws Failure{setup} that says why there is no encrypted connection.
  void received(std::size_t n, std::int64_t now) override;
  Fate fate() const override { return flow_.fate(); }
  bool ended(std::int64_t now) override;

  bool verified() const override { return inner_.verified() && inner_.fate() == flow_.fate(); }
  bool asked() const override { return inner_.asked(); }
  std::int64_t arrived() const override { return inner_.arrived(); }

 private:
  Work::Verification& inner_;  // the flow's
  TlsFlow flow_;
  std::unique_ptr<Session>& to_;
};

}  // namespace netdyno::tls
