#include "h2/client.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace netdyno::h2 {

using contract::ErrorKind;

H2Client::H2Client(const Asking& asking, const Settings& settings, const Place& place,
                   std::unique_ptr<Session> session)
    : asking_(asking),
      settings_(settings),
      place_(place),
      fresh_(session == nullptr),
      session_(std::move(session)) {
  if (fresh_) session_ = std::make_unique<Session>(End::client, settings_);
  session_->attend(*this);
}

void H2Client::begin(std::int64_t now) {
  now_ = now;
  const std::size_t slots = place_.slots.size();
  // A connection without load still answers pings.
  capacity_ = asking_.read_size(slots);
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  calls_ = std::vector<Call>(slots);
  ring_.resize(std::bit_ceil(std::max<std::size_t>(1, slots)));
  mask_ = ring_.size() - 1;
  if (fresh_) fate_ = Fate::over;
  place_.agenda.hold(slots);
  for (std::uint32_t slot = 0; slot < slots; slot++) {
    calls_[slot].slot = slot;
    ask(calls_[slot]);
  }
}

void H2Client::ask(Call& call) {
  call.state = Call::State::idle;
  if (place_.agenda.ask(place_.slots[call.slot], now_, place_.number, call.slot)) queue(call.slot);
}

void H2Client::queue(std::uint32_t slot) {
  calls_[slot].state = Call::State::waiting;
  calls_[slot].sent_ns = 0;
  ring_[queued_++ & mask_] = slot;
}

/// The peer did not look at the exchange's request: it goes out once more, and its time has
/// run since the first one.
void H2Client::again(Call& call) {
  const std::int64_t sent = call.sent_ns;
  under_way_--;
  queue(call.slot);
  call.sent_ns = sent;
}

bool H2Client::unsent() const {
  if (fate_ != Fate::open) return fate_ == Fate::over && waiting() > 0;
  return session_->unsent() || (waiting() > 0 && may_begin());
}

std::span<const char> H2Client::outgoing(std::int64_t now) {
  now_ = now;
  if (session_->drained()) {
    begin_calls(now);
    session_->pump();
  }
  return session_->outgoing();
}

void H2Client::begin_calls(std::int64_t now) {
  // Connecting belongs to the exchanges that needed it.
  const std::int64_t at = reopened_ns_ == 0 ? now : reopened_ns_;
  if (waiting() > 0) reopened_ns_ = 0;
  for (; waiting() > 0 && may_begin(); taken_++) {
    Call& call = calls_[ring_[taken_ & mask_]];
    static_cast<Stream&>(call) = Stream{};
    call.state = Call::State::under_way;
    if (call.sent_ns == 0) call.sent_ns = at;
    call.reply.begin();
    call.body = asking_.body(call.room);
    under_way_++;
    session_->request(call, asking_.fields(place_.connection, turn_++));
  }
}

void H2Client::received(std::size_t n, std::int64_t now) {
  if (fate_ != Fate::open) return;
  now_ = now;
  session_->receive({buffer_.get(), n});
  session_->pump();  // what the library answers by itself
  if (session_->broken()) {
    fate_ = Fate::lost;
    return abandon(ErrorKind::invalid, now);
  }
  if (failed_) {
    fate_ = Fate::lost;
    return abandon(ErrorKind::peer, now);
  }
  conclude();
}

/// A connection that takes no more requests ends with its last reply. One on which nothing
/// was answered is not made again, else that could go on for ever.
void H2Client::conclude() {
  if (under_way_ > 0 || fate_ != Fate::open) return;
  if (!leaving_ && !session_->over()) return;
  fate_ = used_ && !place_.slots.empty() ? Fate::over : Fate::lost;
}

void H2Client::field(Stream& stream, std::string_view name, std::string_view value) {
  asking_.field(static_cast<Call&>(stream).reply, name, value);
}

void H2Client::data(Stream& stream, std::string_view bytes) {
  if (asking_.data(static_cast<Call&>(stream).reply, bytes)) return;
  session_->reset(stream, NGHTTP2_CANCEL);
}

/// A reply that came before its request was written leaves the rest of that behind.
void H2Client::ended(Stream& stream) {
  if (stream.sent) return;
  session_->reset(stream, NGHTTP2_CANCEL);
  stream.given_up = false;
}

void H2Client::closed(Stream& stream, std::uint32_t code) {
  Call& call = static_cast<Call&>(stream);
  if (call.state != Call::State::under_way) return;
  if (leaving_ && !stream.ended && !stream.reset && code == NGHTTP2_REFUSED_STREAM) return again(call);
  under_way_--;
  used_ = true;
  const Verdict verdict = asking_.judge(call.reply);
  Slot& slot = place_.slots[call.slot];
  if (stream.given_up || !stream.ended) {
    slot.fail(stream.reset && !stream.given_up ? ErrorKind::peer : ErrorKind::invalid, now_);
  } else if (verdict.taken) {
    slot.done(call.sent_ns, now_, verdict.received);
  } else {
    slot.fail(verdict.kind, now_);
  }
  if (fresh_) leaving_ = true;
  ask(call);
}

void H2Client::going_away(std::uint32_t code) {
  leaving_ = true;
  if (code != NGHTTP2_NO_ERROR) failed_ = true;
}

void H2Client::refused(std::int32_t id) {
  for (Call& call : calls_) {
    if (call.state != Call::State::under_way || call.id != id) continue;
    call.id = 0;
    return again(call);
  }
}

/// Between exchanges either end may close. Within one, the connection is lost.
bool H2Client::ended(std::int64_t) {
  if (place_.slots.empty() || under_way_ > 0 || !used_ || fate_ == Fate::lost) return false;
  fate_ = Fate::over;
  return true;
}

void H2Client::reopened(std::int64_t now) {
  session_ = std::make_unique<Session>(End::client, settings_);
  session_->attend(*this);
  fate_ = Fate::open;
  used_ = leaving_ = failed_ = false;
  reopened_ns_ = now;
}

void H2Client::abandon(ErrorKind kind, std::int64_t now) {
  place_.agenda.forget(place_.number);
  for (Call& call : calls_) {
    if (call.state == Call::State::idle) continue;
    call.state = Call::State::idle;
    place_.slots[call.slot].fail(kind, now);
    place_.agenda.let_go();
  }
  taken_ = queued_;
  under_way_ = 0;
}

}  // namespace netdyno::h2
