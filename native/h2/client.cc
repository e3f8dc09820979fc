#include "h2/client.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "kit/reasons.h"

namespace netdyno::h2 {

using contract::ErrorKind;
using contract::Role;

namespace {

/// How many connections of one, or streams of an exchange, a server may end unseen one after
/// the other before an exchange fails: else that could go on for ever.
constexpr int kMostBarren = 8;

}  // namespace

H2Client::H2Client(const Asking& asking, const Settings& settings, const Work::Place& place, bool fresh,
                   std::unique_ptr<Session> session)
    : asking_(asking),
      settings_(settings),
      place_(place),
      fresh_(fresh),
      stays_(asking.stays()),
      shortest_limit_(asking.load().shortest_limit()),
      session_(std::move(session)) {
  if (session_ == nullptr) {
    session_ = std::make_unique<Session>(Role::client, settings_);
    fate_ = Fate::over;
  }
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
  place_.agenda.hold(slots);
  for (std::uint32_t slot = 0; slot < slots; slot++) {
    calls_[slot].slot = slot;
    ask(calls_[slot]);
  }
}

void H2Client::ask(Call& call) {
  call.state = Call::State::idle;
  call.refusals = 0;
  Slot& slot = place_.slots[call.slot];
  while (place_.agenda.ask(slot, now_, place_.number, call.slot)) {
    if (!call.owed) return queue(call.slot);
    const Fault fault = *std::exchange(call.owed, std::nullopt);
    slot.fail(fault.kind, now_, fault.why);
  }
}

void H2Client::send(std::uint32_t slot) {
  if (slot == Agenda::kWatch) {
    watched_ = false;
    return look(now_ns());
  }
  Call& call = calls_[slot];
  if (!call.owed) return queue(slot);
  fail(call, *std::exchange(call.owed, std::nullopt));
}

void H2Client::queue(std::uint32_t slot) {
  Call& call = calls_[slot];
  call.state = Call::State::waiting;
  call.queued_ns = now_;
  call.sent_ns = 0;
  call.late = false;
  ring_[queued_++ & mask_] = slot;
}

/// When an exchange has taken too long; never for one without a deadline.
std::int64_t H2Client::expires(const Call& call) const {
  const std::int64_t limit = asking_.load().deadline(place_.slots[call.slot].kind());
  if (limit == 0 || call.state == Call::State::idle || call.late) return Agenda::kNever;
  return (call.sent_ns > 0 ? call.sent_ns : call.queued_ns) + limit;
}

/// Has the agenda say when time may have run out, if that may be at all: at the earliest instant of those
/// under way, and no later than what begins meanwhile may need.
void H2Client::watch() {
  if (watched_ || fate_ == Fate::lost || shortest_limit_ == contract::kNoLimit) return;
  const std::int64_t connect_ns = asking_.load().connect_ns;
  std::int64_t at = Agenda::kNever;
  for (const Call& call : calls_) at = std::min(at, expires(call));
  if (connecting_ns_ > 0 && connect_ns > 0) at = std::min(at, connecting_ns_ + connect_ns);
  if (at == Agenda::kNever) return;
  watched_ = true;
  place_.agenda.watch(std::min(at, now_ns() + shortest_limit_), place_.number);
}

/// Fails the exchanges whose time has run out. Their streams are cancelled, and the connection goes on; one
/// that is still being made is given up with them.
void H2Client::look(std::int64_t now) {
  now_ = now;
  const std::int64_t connect_ns = asking_.load().connect_ns;
  if (connecting_ns_ > 0 && connect_ns > 0 && now >= connecting_ns_ + connect_ns)
    fail_waiting(true, {ErrorKind::timeout, "no connection within " + duration_text(connect_ns)});
  fail_waiting(false, {});
  for (Call& call : calls_) {
    if (call.state != Call::State::under_way || now < expires(call)) continue;
    call.late = true;
    session_->reset(call, NGHTTP2_CANCEL);
  }
  if (fate_ == Fate::open) session_->pump();
  watch();
}

/// Fails exchanges that wait, all by a fault or those whose time has run out.
void H2Client::fail_waiting(bool all, const Fault& fault) {
  std::vector<std::uint32_t> out;
  std::uint64_t kept = taken_;
  for (std::uint64_t i = taken_; i < queued_; i++) {
    const std::uint32_t slot = ring_[i & mask_];
    const bool goes = all || now_ >= expires(calls_[slot]);
    if (goes) out.push_back(slot);
    if (!goes) ring_[kept++ & mask_] = slot;
  }
  queued_ = kept;
  if (!out.empty() && connecting_ns_ > 0) fate_ = Fate::over;
  for (const std::uint32_t slot : out) {
    const std::int64_t limit = asking_.load().deadline(place_.slots[slot].kind());
    fail(calls_[slot], all ? fault : Fault{ErrorKind::timeout, no_reply_within(limit)});
  }
}

/// Makes the request of an exchange that is sent for the first time.
void H2Client::choose(Call& call) {
  call.turn = asking_.turn(place_.connection, chosen_++, place_.slots[call.slot]);
  call.out.of = call.reply.of = call.turn.of;
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
    if (call.sent_ns == 0) {
      choose(call);
      call.sent_ns = at;
    }
    place_.slots[call.slot].goes_out();
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
    session_->request(call, asking_.fields(call.turn, call.fields));
  }
  watch();
}

void H2Client::received(std::size_t n, std::int64_t now) {
  if (fate_ != Fate::open) return;
  now_ = now;
  heard_ = true;
  session_->receive({buffer_.get(), n});
  complete_whole();
  session_->pump();  // what the library answers by itself
  if (session_->broken()) return fail_all({ErrorKind::invalid, "malformed HTTP/2: " + session_->problem()});
  if (under_way_ == 0 && (leaving_ || session_->over())) leave();
}

/// The connection is over, and nothing is under way on it.
void H2Client::leave() {
  fate_ = place_.slots.empty() ? Fate::lost : Fate::over;
  barren_ = used_ ? 0 : barren_ + 1;
  if (barren_ < kMostBarren || waiting() == 0) return;
  barren_ = 0;
  Call& call = front();
  taken_++;
  fail(call, {ErrorKind::peer, "the server ended " + std::to_string(kMostBarren) +
                                   " connections, one after the other, before a reply"});
}

/// The connection is over, and what is under way on it fails.
void H2Client::fail_all(const Fault& fault) {
  whole_.clear();
  open_ = 0;
  for (Call& call : calls_) {
    call.open = false;
    if (call.state != Call::State::under_way) continue;
    under_way_--;
    used_ = true;
    fail(call, fault);
  }
  leave();
}

/// A slot's exchange failed.
void H2Client::fail(Call& call, const Fault& fault) {
  place_.slots[call.slot].fail(fault.kind, now_, fault.why);
  ask(call);
}

/// More of an exchange's reply came: of its body what is beyond had bytes.
void H2Client::came(const Call& call, std::int64_t had) {
  if (call.state == Call::State::under_way) place_.slots[call.slot].came(had, call.reply.bytes, now_);
}

void H2Client::field(Stream& stream, std::string_view name, std::string_view value) {
  Call& call = static_cast<Call&>(stream);
  came(call, call.reply.bytes);
  asking_.field(call.reply, name, value);
}

void H2Client::data(Stream& stream, std::string_view bytes) {
  Call& call = static_cast<Call&>(stream);
  const std::size_t before = call.reply.whole;
  const std::int64_t had = call.reply.bytes;
  const bool right = asking_.data(call.reply, bytes);
  came(call, had);
  if (right) {
    if (call.reply.whole == before) return;
    call.verdict = asking_.judge(call.reply);
    return whole_.push_back(call.slot);
  }
  session_->reset(stream, NGHTTP2_CANCEL);
  if (call.state != Call::State::under_way)
    call.owed = {ErrorKind::invalid, "bytes came that nobody asked for"};
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
  const bool under_way = call.state == Call::State::under_way;
  const bool unseen = code == NGHTTP2_REFUSED_STREAM && !stream.ended && (leaving_ || stream.reset);
  if (unseen && under_way && (!stream.reset || call.refusals++ < kMostBarren)) return again(call);
  call.open = false;
  open_--;
  if (answered(call)) {
    if (!stream.given_up && !unseen) call.owed = fault(call, code);  // else data said so
    return;
  }
  if (call.given_up || !(call.ended || (stays_ && call.reply.whole > 0))) {
    under_way_--;
    used_ = true;
    if (fresh_) leaving_ = true;
    return fail(call, fault(call, code));
  }
  complete(call);
}

/// What a stream that closed by a code is to its exchange, or to the next where that was
/// answered.
H2Client::Fault H2Client::fault(const Call& call, std::uint32_t code) const {
  // A server that is told the deadline may cancel the stream first.
  if (call.late || (call.reset && now_ >= expires(call))) {
    const std::int64_t limit = asking_.load().deadline(place_.slots[call.slot].kind());
    return {ErrorKind::timeout, no_reply_within(limit)};
  }
  if (call.head > Session::kMostHead) return {ErrorKind::invalid, Session::headless()};
  if (call.given_up) return {ErrorKind::invalid, asking_.reason(call.reply)};
  if (call.reset) return {ErrorKind::peer, "stream reset (" + code_name(code) + ")"};
  if (!call.ended) return {ErrorKind::invalid, "malformed reply (" + code_name(code) + ")"};
  const Verdict verdict = asking_.judge(call.reply);
  if (!verdict.taken) return {verdict.kind, asking_.reason(call.reply)};
  return {ErrorKind::invalid, "the server ended the stream"};
}

/// Reads what became of an exchange whose reply is whole.
void H2Client::complete(Call& call) {
  under_way_--;
  used_ = true;
  if (fresh_) leaving_ = true;
  const Verdict verdict = stays_ && call.reply.whole > 0 ? call.verdict : asking_.judge(call.reply);
  if (!verdict.taken) return fail(call, {verdict.kind, asking_.reason(call.reply)});
  place_.slots[call.slot].done(call.sent_ns, now_, verdict.received);
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
  gone_ = code;
}

void H2Client::refused(std::int32_t id) {
  for (Call& call : calls_) {
    if (call.state != Call::State::under_way || call.id != id) continue;
    call.id = 0;
    return again(call);
  }
}

/// A server may leave a connection at any time. What is under way fails, and the next
/// exchange has another connection, unless this one was never made.
bool H2Client::ended(std::int64_t now) {
  if (place_.slots.empty() || fate_ == Fate::lost) return false;
  if (!heard_ && error() != 0 && error() != ECONNRESET && error() != EPIPE) return false;
  if (fate_ == Fate::over) return true;
  now_ = now;
  const bool replying = std::any_of(calls_.begin(), calls_.end(), [](const Call& call) {
    return call.state == Call::State::under_way && call.reply.status != 0;
  });
  fail_all({ErrorKind::peer, gone_ ? "the server left within the reply (GOAWAY, " + code_name(*gone_) + ")"
                                   : loss() + (replying ? " within the reply" : " before the reply")});
  return true;
}

void H2Client::reopened(std::int64_t now) {
  session_ = std::make_unique<Session>(Role::client, settings_);
  session_->attend(*this);
  fate_ = Fate::open;
  for (Call& call : calls_) call.open = false;
  open_ = 0;
  heard_ = used_ = leaving_ = false;
  gone_.reset();
  reopened_ns_ = connecting_ns_ = now;
  watch();
}

/// The connection is lost, and none takes its place.
void H2Client::abandon(ErrorKind kind, std::int64_t now) {
  place_.agenda.forget(place_.number);
  for (Call& call : calls_) {
    call.open = false;
    if (call.state == Call::State::idle) continue;
    call.state = Call::State::idle;
    place_.slots[call.slot].fail(kind, now, loss());
    place_.agenda.let_go();
  }
  taken_ = queued_;
  whole_.clear();
  under_way_ = open_ = 0;
}

}  // namespace netdyno::h2
