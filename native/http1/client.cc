#include "http1/client.h"

#include <cerrno>
#include <utility>

namespace netdyno::http1 {

using contract::ErrorKind;

HttpClient::HttpClient(const Asking& asking, std::int64_t connection, Flights flights)
    : asking_(asking),
      connection_(connection),
      flights_(std::move(flights)),
      reader_(asking.terms().most_body(), asking.to_head()) {}

void HttpClient::begin(std::int64_t now) {
  // An idle connection needs a byte, to notice that it is lost.
  capacity_ = flights_.slots() == 0 ? 1 : asking_.read_size();
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  if (asking_.fresh()) fate_ = Fate::over;
  flights_.begin(now);
}

std::span<const char> HttpClient::outgoing(std::int64_t now) {
  // Connecting belongs to the exchange that needed it.
  if (at_ == 0) flights_.sending(1, reopened_ns_ == 0 ? now : reopened_ns_);
  return request().from(at_);
}

void HttpClient::written(std::size_t n) {
  if (n == 0) return;
  if (at_ == 0) flights_.sent(1);
  at_ += n;
  if (at_ < request().size()) return;
  at_ = 0;
  turn_++;
}

void HttpClient::received(std::size_t n, std::int64_t now) {
  if (fate_ != Fate::open) return;
  if (flights_.in_flight() == 0) {  // nobody asked; some servers say so that they close
    fate_ = Fate::over;
    return;
  }
  replying_ = true;
  switch (reader_.read({buffer_.get(), n})) {
    case Reader::Outcome::more:
      return;
    case Reader::Outcome::complete:
      return answered(reader_.keeps() && reader_.taken() == n, now);
    case Reader::Outcome::endless:
      return failed(ErrorKind::invalid,
                    asking_.terms().reason({reader_.status(), asking_.terms().most_body() + 1}), now);
    case Reader::Outcome::headless:
      return failed(ErrorKind::invalid, Reader::headless(), now);
    case Reader::Outcome::malformed:
      return failed(ErrorKind::invalid, "malformed HTTP: " + reader_.problem(), now);
  }
}

/// The reply is complete.
void HttpClient::answered(bool keeps, std::int64_t now) {
  const Reply reply{reader_.status(), reader_.body()};
  reader_.next();
  reopened_ns_ = repeats_ns_ = 0;
  replying_ = false;
  used_ = true;
  // A reply that came before its request was written leaves the rest of that behind.
  if (!keeps || at_ > 0 || asking_.fresh()) renew();
  if (asking_.terms().takes(reply)) {
    flights_.answered(reply.bytes, now);
  } else {
    flights_.failed(ErrorKind::invalid, now, asking_.terms().reason(reply));
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
  if (at_ > 0) {
    at_ = 0;
    turn_++;
  }
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
  } else if (!asking_.terms().repeatable()) {
    failed(ErrorKind::peer, "the server closed an idle connection", now);
  } else {
    repeats_ns_ = flights_.oldest_sent();
    if (at_ == 0) turn_--;
    at_ = 0;
    flights_.unsend();
    fate_ = Fate::over;
  }
  return true;
}

void HttpClient::reopened(std::int64_t now) {
  fate_ = Fate::open;
  reopened_ns_ = repeats_ns_ == 0 ? now : repeats_ns_;
  repeats_ns_ = 0;
  used_ = replying_ = false;
  reader_.next();
}

void HttpClient::abandon(ErrorKind kind, std::int64_t now) {
  flights_.abandon(kind, now, kind == ErrorKind::peer ? loss() : "");
  at_ = 0;
}

}  // namespace netdyno::http1
