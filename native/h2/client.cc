#include "h2/client.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace netdyno::h2 {

using contract::ErrorKind;
using contract::Role;

H2Client::H2Client(const Asking& asking, const Settings& settings, const Place& place,
                   std::unique_ptr<Session> session)
    : asking_(asking),
      settings_(settings),
      place_(place),
      fresh_(session == nullptr),
      stays_(asking.stays()),
      session_(std::move(session)) {
  if (fresh_) session_ = std::make_unique<Session>(Role::client, settings_);
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
  if (stays_) whole_.reserve(slots);
  if (fresh_) fate_ = Fate::over;
  place_.agenda.hold(slots);
  for (std::uint32_t slot = 0; slot < slots; slot++) {
    calls_[slot].slot = slot;
    ask(calls_[slot]);
  }
}

void H2Client::ask(Call& call) {
  call.state = Call::State::idle;
  Slot& slot = place_.slots[call.slot];
  while (place_.agenda.ask(slot, now_, place_.number, call.slot)) {
    if (!call.owed) return queue(call.slot);
    slot.fail(*std::exchange(call.owed, std::nullopt), now_);
  }
}

void H2Client::send(std::uint32_t slot) {
  Call& call = calls_[slot];
  if (!call.owed) return queue(slot);
  place_.slots[slot].fail(*std::exchange(call.owed, std::nullopt), now_);
  ask(call);
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
  call.open = false;
  open_--;
  under_way_--;
  queue(call.slot);
  call.sent_ns = sent;
}

bool H2Client::unsent() const {
  if (fate_ != Fate::open) return fate_ == Fate::over && waiting() > 0;
  return session_->unsent() || (waiting() > 0 && may_begin(front()));
}

/// Whether bytes of the exchange can go out now. What a slot said before on its stream has
/// gone then.
bool H2Client::may_begin(const Call& call) const {
  if (leaving_) return false;
  if (!call.open) return session_->takes_request(open_);
  return !call.ended && !call.given_up && call.body.empty() && session_->has_room(call);
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
  for (; waiting() > 0 && may_begin(front()); taken_++) {
    Call& call = front();
    if (!call.open) static_cast<Stream&>(call) = Stream{};
    call.state = Call::State::under_way;
    if (call.sent_ns == 0) call.sent_ns = at;
    under_way_++;
    asking_.begin(call.out);
    call.body = call.out.piece;
    call.more = call.out.more || stays_;
    if (call.open) {
      call.reply.follow();
      session_->resume(call);
      continue;
    }
    call.reply.begin();
    call.open = true;
    open_++;
    session_->request(call, asking_.fields(place_.connection, turn_++));
  }
}

void H2Client::received(std::size_t n, std::int64_t now) {
  if (fate_ != Fate::open) return;
  now_ = now;
  session_->receive({buffer_.get(), n});
  complete_whole();
  session_->pump();  // what the library answers by itself
  if (session_->broken()) {
    fate_ = Fate::lost;
    return give_up(ErrorKind::invalid, now, "malformed HTTP/2: " + session_->problem());
  }
  if (failed_) {
    fate_ = Fate::lost;
    return give_up(ErrorKind::peer, now, "GOAWAY with an error");
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
  Call& call = static_cast<Call&>(stream);
  const std::size_t before = call.reply.whole;
  if (asking_.data(call.reply, bytes)) {
    if (call.reply.whole == before) return;
    call.verdict = asking_.judge(call.reply);
    return whole_.push_back(call.slot);
  }
  session_->reset(stream, NGHTTP2_CANCEL);
  if (call.state != Call::State::under_way) call.owed = ErrorKind::invalid;  // nothing was asked for
}

void H2Client::more(Stream& stream) {
  Call& call = static_cast<Call&>(stream);
  if (!call.out.more) return;
  asking_.next(call.out);
  call.body = call.out.piece;
  call.more = call.out.more || stays_;
}

/// A reply that came before its request was written leaves the rest of that behind.
void H2Client::ended(Stream& stream) {
  if (stream.sent) return;
  session_->reset(stream, NGHTTP2_CANCEL);
  stream.given_up = false;
}

/// Whether the exchange's reply came, on a stream that stays, before that ended.
bool H2Client::answered(const Call& call) const {
  return stays_ && (call.state != Call::State::under_way || (call.reply.whole > 0 && !call.given_up));
}

void H2Client::closed(Stream& stream, std::uint32_t code) {
  Call& call = static_cast<Call&>(stream);
  if (!call.open) return;
  const bool unseen = leaving_ && !stream.ended && !stream.reset && code == NGHTTP2_REFUSED_STREAM;
  if (unseen && call.state == Call::State::under_way) return again(call);
  call.open = false;
  open_--;
  if (!answered(call)) return complete(call);
  if (stream.given_up) return;  // data said so
  const Verdict verdict = asking_.judge(call.reply);
  call.owed = stream.reset ? ErrorKind::peer : verdict.taken ? ErrorKind::invalid : verdict.kind;
}

/// Reads what became of an exchange that is over.
void H2Client::complete(Call& call) {
  under_way_--;
  used_ = true;
  const bool whole = stays_ && call.reply.whole > 0;
  const Verdict verdict = whole ? call.verdict : asking_.judge(call.reply);
  Slot& slot = place_.slots[call.slot];
  if (call.given_up || !(call.ended || whole)) {
    const bool reset = call.reset && !call.given_up;
    slot.fail(reset ? ErrorKind::peer : ErrorKind::invalid, now_,
              reset ? "stream reset" : asking_.reason(call.reply));
  } else if (verdict.taken) {
    slot.done(call.sent_ns, now_, verdict.received);
  } else {
    slot.fail(verdict.kind, now_, asking_.reason(call.reply));
  }
  if (fresh_) leaving_ = true;
  ask(call);
}

/// Completes the exchanges whose replies came in this read. Had more come than a reply, it
/// would be wrong.
void H2Client::complete_whole() {
  for (const std::uint32_t slot : whole_) {
    if (!calls_[slot].given_up) complete(calls_[slot]);
  }
  whole_.clear();
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
  session_ = std::make_unique<Session>(Role::client, settings_);
  session_->attend(*this);
  fate_ = Fate::open;
  for (Call& call : calls_) call.open = false;
  open_ = 0;
  used_ = leaving_ = failed_ = false;
  reopened_ns_ = now;
}

void H2Client::abandon(ErrorKind kind, std::int64_t now) { give_up(kind, now, loss(error())); }

void H2Client::give_up(ErrorKind kind, std::int64_t now, std::string_view why) {
  place_.agenda.forget(place_.number);
  for (Call& call : calls_) {
    call.open = false;
    if (call.state == Call::State::idle) continue;
    call.state = Call::State::idle;
    place_.slots[call.slot].fail(kind, now, why);
    place_.agenda.let_go();
  }
  taken_ = queued_;
  whole_.clear();
  under_way_ = open_ = 0;
}

}  // namespace netdyno::h2
