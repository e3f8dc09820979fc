#include "http1/client.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

HttpClient::HttpClient(const Asking& asking, const Work::Place& place)
    : asking_(asking),
      connection_(place.connection),
      number_(place.number),
      slot_(place.slots.data()),
      agenda_(place.agenda),
      flights_(place.number, place.slots, place.agenda),
      reader_(asking.terms().most_body(), asking.following().kind) {
  if (asking.alike()) {
    asking_.prepare(request_, {connection_});
    for (Slot& slot : place.slots) asking_.kinds().turn(connection_, 0, slot);  // which address it asks
  }
  reader_.to_head(asking.terms().bodiless());
  reader_.keep(asking.terms().reads_bodies());
}

void HttpClient::begin(std::int64_t now) {
  // An idle connection needs a byte, to notice that it is lost.
  capacity_ = flights_.slots() == 0 ? 1 : asking_.read_size();
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  if (asking_.fresh()) fate_ = Fate::over;
  flights_.begin(now);
}

void HttpClient::send(std::uint32_t slot) {
  if (slot != Agenda::kWatch) return flights_.queue(slot);
  watched_ = false;
  look(now_ns());
}

/// When what is under way has taken too long, an exchange, or connecting for it; or when a reply is ended.
std::int64_t HttpClient::expires() const {
  std::int64_t at = Agenda::kNever;
  if (fate_ != Fate::open) return at;
  if (flights_.slots() == 0) return at;
  const std::int64_t deadline = asking_.load().deadline(slot_->kind());
  if (deadline > 0 && flights_.in_flight() > 0) {
    at = flights_.oldest_sent() + deadline;
  } else if (deadline > 0 && flights_.waiting() > 0 && reopened_ns_ > 0) {
    at = reopened_ns_ + deadline;
  }
  if (asking_.load().connect_ns > 0 && connecting_ns_ > 0)
    at = std::min(at, connecting_ns_ + asking_.load().connect_ns);
  if (began_ns_ > 0 && asking_.following().lasts_ns > 0)
    at = std::min(at, began_ns_ + asking_.following().lasts_ns);
  return at;
}

/// Has the agenda say when time may have run out. What has come about by then is looked at then: an
/// exchange that is answered in time costs no entry of its own. What begins before then may have less
/// time, but none less than the shortest limit.
void HttpClient::watch() {
  if (watched_) return;
  const std::int64_t at = expires();
  if (at == Agenda::kNever) return;
  watched_ = true;
  agenda_.watch(std::min(at, now_ns() + asking_.shortest_limit()), number_);
}

/// Fails the exchange whose time has run out, or ends the reply that has lasted long enough.
void HttpClient::look(std::int64_t now) {
  if (now < expires()) return watch();
  const std::int64_t lasts_ns = asking_.following().lasts_ns;
  if (began_ns_ > 0 && lasts_ns > 0 && now >= began_ns_ + lasts_ns) return answered(false, now);
  const std::int64_t connect_ns = asking_.load().connect_ns;
  const bool connects = connecting_ns_ > 0 && connect_ns > 0 && now >= connecting_ns_ + connect_ns;
  const std::string why = connects ? "no connection within " + duration_text(connect_ns)
                                   : no_reply_within(asking_.load().deadline(slot_->kind()));
  if (flights_.in_flight() > 0) return failed(ErrorKind::timeout, why, now);
  renew();
  flights_.failed_waiting(ErrorKind::timeout, now, why);
}

std::span<const char> HttpClient::outgoing(std::int64_t now) {
  // Connecting belongs to the exchange that needed it.
  if (at_ == 0) flights_.sending(1, reopened_ns_ == 0 ? now : reopened_ns_);
  if (at_ == 0 && !asking_.alike()) choose();
  return request_.from(at_);
}

/// Sets the request of the exchange that is sent next, unless it goes out once more. What was sent
/// before it, the kernel has taken.
void HttpClient::choose() {
  const std::uint64_t k = flights_.over();
  if (chosen_ > k) return;
  chosen_ = k + 1;
  Slot& slot = flights_.next_slot();
  const std::int64_t more = asking_.prepare(request_, asking_.kinds().turn(connection_, k, slot));
  if (asking_.load().classes.empty()) slot.carries(more);
  reader_.to_head(request_.terms().bodiless());
}

void HttpClient::written(std::size_t n) {
  if (n == 0) return;
  if (at_ == 0) {
    flights_.sent(1);
    watch();
  }
  at_ += n;
  if (at_ == request_.size()) at_ = 0;
}

void HttpClient::received(std::size_t n, std::int64_t now) {
  if (fate_ != Fate::open) return;
  if (flights_.in_flight() == 0) {  // nobody asked; some servers say so that they close
    fate_ = Fate::over;
    return;
  }
  replying_ = true;
  const std::int64_t had = reader_.body();
  const Reader::Outcome outcome = reader_.read({buffer_.get(), n});
  const bool splits = asking_.following().splits();
  if (!splits) slot_->came(had, reader_.body(), now);
  const bool over = splits && follow(now);
  if (splits && !reader_.events().wrong().empty() && request_.terms().takes_status(reader_.status()))
    return failed(ErrorKind::invalid, reader_.events().wrong(), now);
  switch (outcome) {
    case Reader::Outcome::more:
      if (over) answered(false, now);
      return;
    case Reader::Outcome::complete:
      return answered(reader_.keeps() && reader_.taken() == n, now);
    case Reader::Outcome::endless:
      return failed(ErrorKind::invalid,
                    request_.terms().reason({reader_.status(), asking_.terms().most_body() + 1}), now);
    case Reader::Outcome::headless:
      return failed(ErrorKind::invalid, Reader::headless(), now);
    case Reader::Outcome::malformed:
      return failed(ErrorKind::invalid, "malformed HTTP: " + reader_.problem(), now);
  }
}

/// Tells of the events that came of a reply whose status is right. True where the reply is to be ended with
/// them.
bool HttpClient::follow(std::int64_t now) {
  const Following& following = asking_.following();
  const bool takes = request_.terms().takes_status(reader_.status());
  slot_->came(takes ? reader_.events().ended(following.most) : 0, now);
  if (takes && began_ns_ == 0) {
    began_ns_ = now;
    watch();
  }
  return takes && following.most > 0 && reader_.events().told() == following.most;
}

/// The reply is complete, or ended here.
void HttpClient::answered(bool keeps, std::int64_t now) {
  const Reply reply{reader_.status(), reader_.body(), reader_.text()};
  reader_.next();
  reopened_ns_ = repeats_ns_ = began_ns_ = 0;
  replying_ = false;
  used_ = true;
  // A reply that came before its request was written leaves the rest of that behind.
  if (!keeps || at_ > 0 || asking_.fresh()) renew();
  const Terms& terms = request_.terms();
  if (terms.takes(reply)) {
    flights_.answered(reply.bytes, now);
  } else {
    flights_.failed(ErrorKind::invalid, now, terms.reason(reply));
  }
}

/// The exchange in flight failed, and what is left of it keeps the connection from carrying
/// another.
void HttpClient::failed(ErrorKind kind, const std::string& why, std::int64_t now) {
  renew();
  flights_.failed(kind, now, why);
}

/// The connection is to be made anew; a request that is written in part is not gone on with.
void HttpClient::renew() {
  fate_ = Fate::over;
  at_ = 0;
}

/// Whether the connection was there, for the server to end it.
bool HttpClient::came_about() const {
  return reopened_ns_ == 0 || error() == 0 || error() == ECONNRESET || error() == EPIPE;
}

/// Between exchanges either end may close (RFC 9112, section 9.6). A server that does it as a
/// request is written has not read that: it is sent once more where that does no harm
/// (section 9.3.1). Within an exchange, only a reply whose end it tells is complete by that.
bool HttpClient::ended(std::int64_t now) {
  if (flights_.slots() == 0) return false;
  const bool asked = flights_.in_flight() > 0;
  if (asked && error() <= 0 && reader_.finish() == Reader::Outcome::complete) {
    if (asking_.following().splits()) follow(now);
    answered(false, now);
  } else if (!came_about()) {
    return false;
  } else if (!asked) {
    if (reopened_ns_ != 0) {  // it was made for an exchange that could not begin
      if (flights_.waiting() == 0) return false;
      flights_.failed_waiting(ErrorKind::peer, now, loss() + " before the request");
    }
    fate_ = Fate::over;
  } else if (replying_) {
    failed(ErrorKind::peer, loss() + " within the reply", now);
  } else if (!used_ || asking_.fresh()) {
    failed(ErrorKind::peer, loss() + " before the reply", now);
  } else if (!request_.terms().repeatable()) {
    failed(ErrorKind::peer, "the server closed an idle connection", now);
  } else {
    repeats_ns_ = flights_.oldest_sent();
    at_ = 0;
    flights_.unsend();
    fate_ = Fate::over;
  }
  return true;
}

void HttpClient::reopened(std::int64_t now) {
  fate_ = Fate::open;
  reopened_ns_ = repeats_ns_ == 0 ? now : repeats_ns_;
  repeats_ns_ = began_ns_ = 0;
  connecting_ns_ = now;
  used_ = replying_ = false;
  reader_.next();
  watch();
}

void HttpClient::abandon(ErrorKind kind, std::int64_t now) {
  flights_.abandon(kind, now, kind == ErrorKind::peer ? loss() : "");
  at_ = 0;
}

namespace {

constexpr std::size_t kReadSize = 64 << 10;

/// Adds what still fits of a part, without bytes that would not print.
void add(std::string& to, std::string_view part) {
  for (const char c : part.substr(0, kMostReason - std::min(kMostReason, to.size()))) {
    to += c < ' ' && c != '\n' ? '?' : c;
  }
}

}  // namespace

FirstReply::FirstReply(const Asking& asking, std::string_view content)
    : ReplyReader(asking.terms().most_body(), asking.following().kind), content_(content) {
  keep(asking.terms().reads_bodies());
}

void FirstReply::on_status(std::string_view part) { add(phrase_, part); }

void FirstReply::on_body(std::string_view part) {
  ReplyReader::on_body(part);
  add(begin_, part);
  if (!content_.empty()) {
    const std::string_view expected = content_.substr(std::min(seen_, content_.size()), part.size());
    differs_ = differs_ || expected != part;
  }
  seen_ += part.size();
}

/// What explains a reply before the one that counts does not explain that.
bool FirstReply::on_end() {
  if (ReplyReader::on_end()) return true;
  phrase_.clear();
  return false;
}

Verification::Verification(const Asking& asking, std::string_view content, std::int64_t connection)
    : asking_(asking), connection_(connection), reply_(asking, content) {}

void Verification::begin(std::int64_t) {
  buffer_ = std::make_unique_for_overwrite<char[]>(kReadSize);
  asking_.prepare(request_, asking_.kinds().first(connection_));
  reply_.to_head(request_.terms().bodiless());
}

/// Ends a reply that has lasted long enough.
void Verification::send(std::uint32_t) {
  if (verified_ || began_ns_ == 0 || !follow()) return;
  fate_ = Fate::over;
  judge();
}

std::span<char> Verification::read_buffer() {
  return verified_ ? std::span<char>() : std::span<char>(buffer_.get(), kReadSize);
}

void Verification::received(std::size_t n, std::int64_t) {
  const bool first = arrived_ == 0;
  arrived_ += static_cast<std::int64_t>(n);
  switch (reply_.read({buffer_.get(), n})) {
    case Reader::Outcome::more:
      if (!follow()) return;
      fate_ = Fate::over;
      return judge();
    case Reader::Outcome::complete:
      follow();
      if (!reply_.keeps() || reply_.taken() < n || unsent() || asking_.fresh()) fate_ = Fate::over;
      return judge();
    case Reader::Outcome::endless:
      refuse({reply_.status(), asking_.terms().most_body() + 1});
    case Reader::Outcome::headless:
      throw Failure(ErrorKind::invalid, Reader::headless());
    case Reader::Outcome::malformed:
      break;
  }
  constexpr char kAlert = 0x15;  // of TLS, to a client that speaks plain text
  if (first && n > 1 && buffer_[0] == kAlert && buffer_[1] == 3) {
    throw Failure(ErrorKind::setup, "the server speaks TLS and this client plain text");
  }
  throw Failure(ErrorKind::invalid, "malformed HTTP: " + reply_.problem());
}

/// Tells whether the reply has come as far as is needed: to its first event, unless its body is looked at.
bool Verification::follow() {
  const Following& following = asking_.following();
  const Terms& terms = request_.terms();
  if (!following.splits() || !terms.takes_status(reply_.status())) return false;
  const std::int64_t now = now_ns();
  if (began_ns_ == 0) began_ns_ = now;
  reply_.events().ended(following.most);
  if (!reply_.events().wrong().empty()) throw Failure(ErrorKind::invalid, reply_.events().wrong());
  const std::int64_t told = reply_.events().told();
  return (told > 0 && (!terms.reads_bodies() || told == following.most)) ||
         (following.lasts_ns > 0 && now >= began_ns_ + following.lasts_ns);
}

void Verification::judge() {
  const Reply reply{reply_.status(), reply_.body(), reply_.text()};
  if (!request_.terms().takes(reply)) refuse(reply);
  request_.terms().require_content(!reply_.differs());
  verified_ = true;
}

void Verification::refuse(const Reply& reply) const {
  request_.terms().refuse(reply, reply_.phrase(), reply_.beginning(),
                          asking_.kinds().named(asking_.kinds().first(connection_)));
}

bool Verification::ended(std::int64_t) {
  if (arrived_ == 0) return false;
  if (error() > 0 || reply_.finish() != Reader::Outcome::complete) {
    throw Failure(ErrorKind::peer, "read the reply: the connection was closed after " +
                                       std::to_string(reply_.body()) + " of " +
                                       std::to_string(asking_.terms().down_bytes()) + " bytes");
  }
  fate_ = Fate::over;
  judge();
  return true;
}

}  // namespace netdyno::http1
