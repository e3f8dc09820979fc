#include "tls/flow.h"

#include <algorithm>
#include <utility>

namespace netdyno::tls {

namespace {

/// The most that is encrypted at a time: whole records, and a whole body of HTTP/2 as its
/// session gathers it.
constexpr std::size_t kPiece = 6 * Session::kRecord;
/// What an idle connection reads at once: session tickets, the end.
constexpr std::size_t kMinRead = 4 << 10;

}  // namespace

TlsFlow::TlsFlow(const Context& context, std::string host, std::unique_ptr<Flow> inner,
                 std::unique_ptr<Session> session)
    : context_(context), host_(std::move(host)), inner_(std::move(inner)), session_(std::move(session)) {}

TlsFlow::TlsFlow(const Context& context, std::unique_ptr<Flow> inner, Traffic& traffic)
    : context_(context), traffic_(&traffic), inner_(std::move(inner)) {}

void TlsFlow::begin(std::int64_t now) {
  inner_->begin(now);
  const std::size_t plain = std::max(inner_->read_buffer().size(), kMinRead);
  // What records add, and a little that is the session's own.
  read_size_ = plain + plain / 256 + 64;
  if (is_server()) session_ = std::make_unique<Session>(context_, host_);
  if (!session_) return;
  session_->read_size(read_size_);
  take_in(now);
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
  if (before == State::shaking) session_->shake_hands();
  while (session_->state() == State::open && session_->undigested() && inner_->fate() == Fate::open) {
    const auto to = inner_->read_buffer();
    if (to.empty()) return;
    if (const std::size_t n = session_->decrypt(to); n > 0) inner_->received(n, now);
  }
  if (session_->state() == before) return;
  if (session_->state() == State::ended) farewell(now);
  if (session_->state() == State::broken && is_server()) traffic_->invalid.add(1);
}

/// The peer has said that it says no more.
void TlsFlow::farewell(std::int64_t now) {
  if (is_server()) return;
  gone_ = true;
  inner_->broke(0);
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
  if (session_->state() == State::broken) return Fate::lost;
  if (fate != Fate::over) return fate;
  return parts() || (session_->closed() && session_->unsent()) ? Fate::open : Fate::over;
}

bool TlsFlow::ended(std::int64_t now) {
  inner_->broke(error());
  if (!is_up()) return inner_->ended(now);
  // In the middle of a record somebody else may have cut the connection (RFC 8446, section
  // 6.1). Between records many servers end it like that, and Go's library takes it, too.
  if (inner_->fate() == Fate::open) {
    if (session_->state() == State::open && session_->truncated()) return false;
    if (!inner_->ended(now)) return false;
  }
  gone_ = true;
  return inner_->fate() == Fate::over;
}

void TlsFlow::abandon(contract::ErrorKind kind, std::int64_t now) {
  if (error() != kUnknown) inner_->broke(error());
  inner_->abandon(kind, now);
}

void TlsFlow::reopened(std::int64_t now) {
  gone_ = lost_ = false;
  session_ = std::make_unique<Session>(context_, host_);
  session_->read_size(read_size_);
  inner_->reopened(now);
  take_in(now);
}

}  // namespace netdyno::tls
