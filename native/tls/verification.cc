#include "tls/verification.h"

#include <utility>

namespace netdyno::tls {

using contract::ErrorKind;
using contract::Failure;

Verification::Verification(const Context& context, const std::string& host,
                           std::unique_ptr<Work::Verification> inner, std::unique_ptr<Session>& to)
    : inner_(*inner),
      flow_(context, host, std::move(inner), std::make_unique<Session>(context, host)),
      to_(to) {}

Verification::~Verification() {
  if (verified() && fate() == Fate::open) to_ = flow_.release();
}

void Verification::received(std::size_t n, std::int64_t now) {
  const bool shaking = flow_.session().state() == Session::State::shaking;
  flow_.received(n, now);
  const Session& session = flow_.session();
  if (session.state() == Session::State::broken) {
    if (shaking || session.refused()) throw Failure(ErrorKind::setup, session.problem());
    throw Failure(ErrorKind::invalid, "malformed TLS: " + session.problem());
  }
  if (fate() == Fate::lost) throw Failure(ErrorKind::peer, "the server ended it before a whole reply came");
}

bool Verification::ended(std::int64_t now) {
  if (flow_.session().state() == Session::State::shaking) {
    throw Failure(ErrorKind::setup,
                  "the server closed the connection in the handshake of TLS, as servers do that expect plain "
                  "text; give setup.tls to both ends or to neither");
  }
  return flow_.ended(now);
}

}  // namespace netdyno::tls
