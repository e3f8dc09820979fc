#include <algorithm>
#include <utility>

#include "h2/client.h"

namespace netdyno::h2 {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::size_t kReadSize = 64 << 10;

}  // namespace

Verification::Verification(const Asking& asking, const Settings& settings, std::int64_t connection,
                           std::int64_t streams, std::unique_ptr<Session>& to)
    : asking_(asking),
      connection_(connection),
      streams_(streams),
      to_(to),
      session_(std::make_unique<Session>(contract::Role::client, settings)) {
  session_->attend(*this);
}

Verification::~Verification() {
  if (verified_ && !gone_) to_ = std::move(session_);
}

void Verification::begin(std::int64_t) {
  buffer_ = std::make_unique_for_overwrite<char[]>(kReadSize);
  first_.reply.first = true;
  const http1::Turn turn = asking_.first(connection_);
  first_.out.of = first_.reply.of = turn.of;
  asking_.begin(first_.out);
  first_.body = first_.out.piece;
  first_.more = first_.out.more;
  session_->request(first_, asking_.fields(turn, first_.fields));
  session_->pump();
}

std::span<char> Verification::read_buffer() {
  return verified_ ? std::span<char>() : std::span<char>(buffer_.get(), kReadSize);
}

void Verification::received(std::size_t n, std::int64_t) {
  for (std::size_t i = 0; i < n && arrived_ + static_cast<std::int64_t>(i) < 5; i++) {
    opening_[static_cast<std::size_t>(arrived_) + i] = buffer_[i];
  }
  arrived_ += static_cast<std::int64_t>(n);
  session_->receive({buffer_.get(), n});
  session_->pump();
  if (first_.over) return judge();
  require_sense();
}

/// Throws where the peer does not speak HTTP/2, or no longer.
void Verification::require_sense() const {
  const std::string_view opening(opening_.data(), opening_.size());
  constexpr char kAlert = 0x15;  // of TLS, to a client that speaks plain text
  if (opening.starts_with("HTTP/")) {
    throw Failure(ErrorKind::setup, "the server speaks HTTP/1.1 and this client HTTP/2 with prior knowledge");
  }
  if (opening[0] == kAlert && opening[1] == 3) {
    throw Failure(ErrorKind::setup, "the server speaks TLS and this client plain text");
  }
  if (session_->broken()) throw Failure(ErrorKind::invalid, "malformed HTTP/2: " + session_->problem());
}

std::string Verification::farewell() const { return " (GOAWAY, " + code_name(*gone_) + ")"; }

/// The first exchange's stream is closed.
void Verification::judge() {
  if (first_.head > Session::kMostHead) throw Failure(ErrorKind::invalid, Session::headless());
  if (!first_.ended && !first_.given_up) {
    require_sense();
    if (first_.code == NGHTTP2_REFUSED_STREAM) {
      throw Deferred(ErrorKind::peer, gone_ ? "the server left before it looked at the request" + farewell()
                                            : "the server refused the stream");
    }
    const std::string code = code_name(first_.code);
    if (first_.reset) throw Failure(ErrorKind::peer, "the server reset the stream: " + code);
    throw Failure(ErrorKind::invalid,
                  "malformed reply: " + (session_->problem().empty() ? code : session_->problem()));
  }
  asking_.require(first_.reply, asking_.first(connection_));
  if (streams_ > session_->stream_limit()) {
    throw Failure(ErrorKind::setup,
                  "load.in_flight is " + std::to_string(streams_) + ", and the server lets a client open " +
                      std::to_string(session_->stream_limit()) +
                      " streams on a connection; raise its limit (opt.server.max_streams), or use "
                      "more connections");
  }
  verified_ = true;
}

bool Verification::ended(std::int64_t) {
  if (arrived_ == 0 || verified_) return verified_;
  throw Failure(ErrorKind::peer,
                "the server closed the connection before a whole reply came" + (gone_ ? farewell() : ""));
}

void Verification::field(Stream&, std::string_view name, std::string_view value) {
  asking_.field(first_.reply, name, value);
}

void Verification::data(Stream& stream, std::string_view bytes) {
  if (!asking_.data(first_.reply, bytes)) session_->reset(stream, NGHTTP2_CANCEL);
}

void Verification::more(Stream& stream) {
  asking_.next(first_.out);
  stream.body = first_.out.piece;
  stream.more = first_.out.more;
}

void Verification::ended(Stream& stream) {
  if (stream.sent) return;
  session_->reset(stream, NGHTTP2_CANCEL);
  stream.given_up = false;
}

void Verification::closed(Stream&, std::uint32_t code) {
  first_.over = true;
  first_.code = code;
}

void Verification::going_away(std::uint32_t code) { gone_ = code; }

}  // namespace netdyno::h2
