// A flow that encrypts another: what the other sends and receives is the plain text of what
// this one does.
//
// The other is asked for bytes when they are to be sent, and told that they were written once
// they are encrypted. What came is decrypted straight into its buffer. It learns nothing of
// the handshake: while that lasts it is neither asked nor given anything.
//
// Where the other's fate is over, this one says so to the peer first (close_notify).
//
// Layer: above session, kit/flow, kit/server_flow. Only its loop's thread uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kit/flow.h"
#include "kit/server_flow.h"
#include "tls/session.h"

namespace netdyno::tls {

class TlsFlow final : public Flow {
 public:
  /// A client's. context outlives the flow. host is the IP address of the server. session is
  /// one on which an exchange was verified, or that begins; none where the connection is over.
  TlsFlow(const Context& context, std::string host, std::unique_ptr<Flow> inner,
          std::unique_ptr<Session> session);
  /// A server's. context and traffic outlive the flow.
  TlsFlow(const Context& context, std::unique_ptr<Flow> inner, Traffic& traffic);

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override { inner_->send(slot); }

  bool unsent() const override;
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override;
  void received(std::size_t n, std::int64_t now) override;

  Fate fate() const override;
  bool ended(std::int64_t now) override;
  void reopened(std::int64_t now) override;
  void abandon(contract::ErrorKind kind, std::int64_t now) override;

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
  std::string host_;
  Traffic* traffic_ = nullptr;  // a server's
  std::unique_ptr<Flow> inner_;
  // A kernel may still be sending from it after the connection is gone, until another begins.
  std::unique_ptr<Session> session_;
  std::size_t read_size_ = 0;
  std::int64_t now_ = 0;
  bool gone_ = false;  // the peer ended the connection
  bool lost_ = false;  // and that cannot be followed
};

}  // namespace netdyno::tls
