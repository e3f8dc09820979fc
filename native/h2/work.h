// The work of a protocol on HTTP/2 for the kit's loop ends, and that of plain HTTP.
//
// Layer: above client, verification, server.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "h2/exchange.h"
#include "h2/settings.h"
#include "kit/work.h"

namespace netdyno::h2 {

/// The wire's name.
inline constexpr char kH2C[] = "h2c";
/// What HTTP/2 is called in ALPN (RFC 9113, section 3.2).
inline constexpr char kAlpn[] = "h2";

/// The work of either end. It keeps the ends' parts. The kit's promise that any thread may use it holds as
/// far as each connection's verification and flow, one after the other, are used by one thread.
class H2Work : public Work {
 public:
  /// Throws Failure{unsupported} for exchanges that no end of this library carries.
  H2Work(const contract::Setup& setup, std::unique_ptr<const Asking> asking,
         std::unique_ptr<const Answering> answering);

  std::unique_ptr<Flow> client(const Place& place) const override;
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override;
  std::unique_ptr<Work::Verification> verification(std::int64_t connection) const override;
  Repeats repeats() const override { return asking_->repeats(); }

 private:
  std::unique_ptr<const Asking> asking_;        // a client's
  std::unique_ptr<const Answering> answering_;  // a server's
  Settings settings_;
  std::int64_t in_flight_;
  bool fresh_;
  // By connection: what its verification leaves to its flow.
  mutable std::vector<std::unique_ptr<Session>> sessions_;
};

/// The description of a transport of this wire, with the options that all engines have.
contract::Transport transport(const std::string& name, const std::string& doc);

/// Throws Failure{setup} for an exchange or an option that cannot be, Failure{unsupported}
/// for one that is not carried. The setup's options are complete.
std::unique_ptr<const Work> work_of(const contract::Setup& setup);

}  // namespace netdyno::h2
