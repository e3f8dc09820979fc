// The first exchange of an encrypted connection of a client, and the handshake before it. Its
// session is handed on to the flow that carries the load.
//
// Layer: above flow, kit/work.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kit/work.h"
#include "tls/flow.h"

namespace netdyno::tls {

class Verification final : public Work::Verification {
 public:
  /// context outlives this. host is the server's IP address. to takes the session once the
  /// exchange is verified and the connection goes on; it outlives this.
  Verification(const Context& context, const std::string& host, std::unique_ptr<Work::Verification> inner,
               std::unique_ptr<Session>& to);
  ~Verification() override;
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  void begin(std::int64_t now) override { flow_.begin(now); }
  bool unsent() const override { return flow_.fate() == Fate::open && flow_.unsent(); }
  std::span<const char> outgoing(std::int64_t now) override { return flow_.outgoing(now); }
  void written(std::size_t n) override { flow_.written(n); }
  std::span<char> read_buffer() override { return flow_.read_buffer(); }
  /// Throws Failure{setup} that says why there is no encrypted connection.
  void received(std::size_t n, std::int64_t now) override;
  Fate fate() const override { return flow_.fate(); }
  bool ended(std::int64_t now) override;

  bool verified() const override { return inner_.verified() && inner_.fate() == flow_.fate(); }
  std::int64_t arrived() const override { return inner_.arrived(); }

 private:
  Work::Verification& inner_;  // the flow's
  TlsFlow flow_;
  std::unique_ptr<Session>& to_;
};

}  // namespace netdyno::tls
