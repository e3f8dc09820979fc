#include "tls/work.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "kit/address.h"
#include "tls/context.h"

namespace netdyno::tls {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// The most that is encrypted at a time: whole records, and a whole body of HTTP/2 as its
/// session gathers it.
constexpr std::size_t kPiece = 6 * Session::kRecord;
/// What an idle connection reads at once: session tickets, the end.
constexpr std::size_t kMinRead = 4 << 10;

}  // namespace

TlsFlow::TlsFlow(const Context& context, Remote remote, std::unique_ptr<Flow> inner,
                 std::unique_ptr<Session> session, Slot* told)
    : context_(context),
      remote_(std::move(remote)),
      inner_(std::move(inner)),
      told_(told),
      session_(std::move(session)) {}

TlsFlow::TlsFlow(const Context& context, std::unique_ptr<Flow> inner, Traffic& traffic)
    : context_(context), traffic_(&traffic), inner_(std::move(inner)) {}

void TlsFlow::begin(std::int64_t now) {
  inner_->begin(now);
  const std::size_t plain = std::max(inner_->read_buffer().size(), kMinRead);
  // What records add, and a little that is the session's own.
  read_size_ = plain + plain / 256 + 64;
  if (is_server()) session_ = std::make_unique<Session>(context_);
  if (!session_) return;
  session_->read_size(read_size_);
  take_in(now);
}

/// Where time ran out, a peer that does not answer is not told goodbye: it may not read that, either.
void TlsFlow::send(std::uint32_t slot) {
  inner_->send(slot);
  if (slot == Agenda::kWatch && inner_->fate() == Fate::over) gone_ = true;
}

/// Whether the other flow has something to be encrypted.
bool TlsFlow::speaks() const {
  if (session_->state() != State::open || !session_->may_speak()) return false;
  return inner_->unsent() && (is_server() || inner_->fate() == Fate::open);
}

/// Whether this end is to say that it says no more.
bool TlsFlow::parts() const {
  if (!session_->may_speak()) return false;
  if (is_server() && session_->state() == State::ended) return true;
  if (session_->state() != State::open || inner_->fate() != Fate::over) return false;
  return !is_server() || !inner_->unsent();
}

bool TlsFlow::unsent() const {
  if (!is_up() || (!is_server() && fate() == Fate::over)) return inner_->unsent();
  return session_->unsent() || speaks() || parts();
}

std::span<const char> TlsFlow::outgoing(std::int64_t now) {
  now_ = now;
  if (session_->drained()) {
    while (speaks() && session_->has_room()) {
      const auto bytes = inner_->outgoing(now);
      if (bytes.empty()) break;
      const std::size_t n = std::min(bytes.size(), kPiece);
      session_->encrypt(bytes.first(n));
      inner_->written(n);
    }
    if (parts()) session_->close();
  }
  return session_->outgoing();
}

/// A server may take up another request once it has answered one.
void TlsFlow::written(std::size_t n) {
  session_->written(n);
  take_in(now_);
}

std::span<char> TlsFlow::read_buffer() {
  // A peer that does not read what this end owes it is not read either.
  if (!is_up() || lost_ || !session_->has_room()) return {};
  switch (session_->state()) {
    case State::shaking:
      return session_->read_buffer();
    case State::open:
      if (inner_->fate() != Fate::open || inner_->read_buffer().empty()) return {};
      return session_->read_buffer();
    default:
      return {};
  }
}

void TlsFlow::received(std::size_t n, std::int64_t now) {
  session_->received(n);
  take_in(now);
}

/// Passes on what came, as far as the other flow takes it.
void TlsFlow::take_in(std::int64_t now) {
  if (!is_up() || lost_) return;
  const State before = session_->state();
  if (before == State::shaking) {
    session_->shake_hands();
    if (told_ != nullptr && session_->state() == State::open)
      told_->shook_hands(now_ns() - made_ns_, session_->resumed());
  }
  while (session_->state() == State::open && session_->undigested() && inner_->fate() == Fate::open) {
    const auto to = inner_->read_buffer();
    if (to.empty()) return;
    if (const std::size_t n = session_->decrypt(to); n > 0) inner_->received(n, now);
  }
  if (session_->state() == before) return;
  if (session_->state() == State::open) inner_->made();
  if (session_->state() == State::broken && is_server()) traffic_->invalid.add(1);
  if (session_->state() == State::ended || session_->state() == State::broken) farewell(now);
}

/// The peer has said that it says no more, or what it says cannot be understood.
void TlsFlow::farewell(std::int64_t now) {
  if (is_server()) return;
  gone_ = true;
  const bool ended = session_->state() == State::ended;
  inner_->broke(ended ? 0 : ECONNRESET, ended ? "" : "TLS: " + session_->problem());
  lost_ = inner_->fate() == Fate::open && !inner_->ended(now);
}

Flow::Fate TlsFlow::fate() const {
  if (lost_) return Fate::lost;
  const Fate fate = inner_->fate();
  if (!is_up()) return fate;
  if (is_server()) {
    const bool at_end = session_->state() == State::ended || session_->state() == State::broken;
    return at_end ? Fate::over : fate;
  }
  if (fate != Fate::over) return fate;
  return parts() || (session_->closed() && session_->unsent()) ? Fate::open : Fate::over;
}

bool TlsFlow::ended(std::int64_t now) {
  inner_->broke(error());
  if (!is_up()) return inner_->ended(now);
  // In the middle of a record somebody else may have cut the connection (RFC 8446, section
  // 6.1). Between records many servers end it like that, and Go's library takes it, too.
  if (session_->state() == State::open && session_->truncated()) {
    inner_->broke(ECONNRESET, "connection cut within a record of TLS");
  } else if (session_->state() == State::shaking) {
    inner_->broke(error(), loss() + " in the handshake of TLS");
  }
  lost_ = inner_->fate() == Fate::open && !inner_->ended(now);
  if (lost_) return false;
  gone_ = true;
  return inner_->fate() == Fate::over;
}

void TlsFlow::abandon(contract::ErrorKind kind, std::int64_t now) {
  if (!lost_ && error() != kUnknown) inner_->broke(error());
  inner_->abandon(kind, now);
}

void TlsFlow::reopened(std::int64_t now) {
  gone_ = lost_ = false;
  session_ = std::make_unique<Session>(context_, remote_);
  session_->read_size(read_size_);
  inner_->reopened(now);
  take_in(now);
}

namespace {

/// The kit's promise that any thread may use it holds as far as each connection's
/// verification and flow, one after the other, are used by one thread.
class TlsWork final : public Work {
 public:
  TlsWork(const contract::Setup& setup, std::string_view protocol, std::unique_ptr<const Work> inner)
      : context_(setup, protocol), inner_(std::move(inner)) {
    if (context_.role() == contract::Role::server) return;
    routes_ = routes(setup);
    sessions_.resize(static_cast<std::size_t>(setup.load.connections));
    if (setup.tls->resume) tickets_.resize(sessions_.size());
  }

  std::unique_ptr<Flow> client(const Place& place) const override {
    const bool tells = !place.slots.empty() && place.slots[0].tells_stages();
    return std::make_unique<TlsFlow>(context_, remote(place.connection), inner_->client(place),
                                     std::move(sessions_.at(static_cast<std::size_t>(place.connection))),
                                     tells ? place.slots.data() : nullptr);
  }
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override {
    return std::make_unique<TlsFlow>(context_, inner_->server(buffer, traffic), traffic);
  }
  std::unique_ptr<Work::Verification> verification(std::int64_t connection) const override {
    return std::make_unique<tls::Verification>(context_, remote(connection), inner_->verification(connection),
                                               sessions_.at(static_cast<std::size_t>(connection)));
  }
  std::optional<Sizes> encoded() const override { return inner_->encoded(); }
  std::vector<std::string> paths() const override { return inner_->paths(); }
  Repeats repeats() const override { return inner_->repeats(); }

 private:
  Remote remote(std::int64_t connection) const {
    const auto i = static_cast<std::size_t>(connection);
    return {routes_[i % routes_.size()].peer.host, tickets_.empty() ? nullptr : &tickets_[i]};
  }

  Context context_;
  std::unique_ptr<const Work> inner_;
  std::vector<Route> routes_;
  // By connection: what its verification leaves to its flow.
  mutable std::vector<std::unique_ptr<Session>> sessions_;
  // By connection: the newest of its sessions, which no other connection resumes, so that a ticket is
  // used once (RFC 8446, appendix C.4) where the server gives another. None where none is to be.
  mutable std::vector<Ticket> tickets_;
};

}  // namespace

std::unique_ptr<const Work> over(const contract::Setup& setup, std::string_view protocol,
                                 std::unique_ptr<const Work> work) {
  if (!setup.tls) return work;
  return std::make_unique<TlsWork>(setup, protocol, std::move(work));
}

std::vector<std::string> with_tls(std::vector<std::string> features) {
  features.insert(features.begin(), {"tls", "resume"});
  return features;
}

std::vector<contract::Option> with_trust(std::vector<contract::Option> options) {
  for (contract::Option& option : trust_options()) options.push_back(std::move(option));
  return options;
}

std::vector<contract::Library> with_library(std::vector<contract::Library> libraries) {
  libraries.push_back({"openssl", library_version()});
  return libraries;
}

std::string sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

Verification::Verification(const Context& context, const Remote& remote,
                           std::unique_ptr<Work::Verification> inner, std::unique_ptr<Session>& to)
    : inner_(*inner),
      flow_(context, remote, std::move(inner), std::make_unique<Session>(context, remote)),
      to_(to) {}

Verification::~Verification() {
  if (verified() && fate() == Fate::open) to_ = flow_.release();
}

void Verification::received(std::size_t n, std::int64_t now) {
  const bool shaking = flow_.session().state() == Session::State::shaking;
  const Session& session = flow_.session();
  try {
    flow_.received(n, now);
  } catch (const Failure&) {
    if (session.state() != Session::State::broken) throw;  // else it knows less than the session
  }
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
