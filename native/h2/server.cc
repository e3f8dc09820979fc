#include <algorithm>

#include "h2/work.h"

namespace netdyno::h2 {

H2Server::H2Server(const Answering& answering, const Settings& settings, std::size_t size, Traffic& traffic,
                   Service* service)
    : ServerFlow(size, traffic),
      answering_(answering),
      service_(service),
      session_(contract::Role::server, settings) {
  session_.attend(*this);
}

void H2Server::begin(std::int64_t now) {
  ServerFlow::begin(now);
  session_.pump();
}

void H2Server::received(std::size_t n, std::int64_t) {
  if (over_) return;
  session_.receive(buffer().first(n));
  session_.pump();
  // grpc-go's clients name a stream of their own in the GOAWAY that they end with, which
  // nghttp2 takes for an error. There is nothing of theirs to be lost by it.
  if (session_.broken() && !session_.parted()) traffic().invalid.add(1);
  over_ = session_.broken() || session_.over();
}

Stream* H2Server::began() {
  if (spare_.empty()) {
    all_.push_back(std::make_unique<Call>());
    spare_.push_back(all_.back().get());
  }
  Call* const call = spare_.back();
  spare_.pop_back();
  static_cast<Stream&>(*call) = Stream{};
  call->request.begin();
  call->owed = 0;
  call->owing = 0;
  call->last_ns = 0;
  call->begun = call->answered = false;
  return call;
}

void H2Server::field(Stream& stream, std::string_view name, std::string_view value) {
  answering_.field(static_cast<Call&>(stream).request, name, value);
}

void H2Server::data(Stream& stream, std::string_view bytes) {
  Call& call = static_cast<Call&>(stream);
  const bool goes_on = answering_.data(call.request, bytes);
  if (call.request.whole > 0) completed(call);
  if (!goes_on) answer(call);
}

void H2Server::ended(Stream& stream) {
  Call& call = static_cast<Call&>(stream);
  if (!call.answered) answer(call);
}

/// Says how the stream ends, and what comes before that.
void H2Server::answer(Call& call) {
  answering_.answer(call.request);
  call.answered = true;
  // What still comes of a request that was wrong is dropped.
  if (!call.ended) call.given_up = true;
  call.trailers = call.request.trailers;
  if (!call.request.right) traffic().invalid.add(1);
  if (call.request.whole > 0) return completed(call);
  if (!call.begun) {
    call.body = call.request.out.piece;
    return session_.respond(call, *call.request.fields);
  }
  call.more = call.request.out.more || call.owed > 0;
  session_.resume(call);
}

/// Exchanges of the call are complete. With work on a CPU they are answered one after the other,
/// each when the answers before it have gone.
void H2Server::completed(Call& call) {
  if (service_ == nullptr) return respond(call, call.request.whole);
  for (; call.owing < call.request.whole; call.owing++) {
    if (service_->sleeps()) {
      // On a stream that stays answers come in the order of requests.
      call.last_ns = std::max(call.last_ns, now_ns() + service_->next());
      rest(call.last_ns);
    }
    owing_.push_back({&call, call.last_ns});
  }
}

/// The work of an exchange is done.
void H2Server::worked(std::size_t at) {
  Call& call = *owing_[at].call;
  owing_.erase(owing_.begin() + static_cast<std::ptrdiff_t>(at));
  call.owing--;
  respond(call, 1);
  session_.pump();
}

std::span<const char> H2Server::outgoing(std::int64_t) {
  while (!owing_.empty() && !session_.unsent() && !service_->sleeps()) {
    service_->serve();
    worked(0);
  }
  return session_.outgoing();
}

void H2Server::rested(std::int64_t now) {
  for (std::size_t i = 0; i < owing_.size();) {
    owing_[i].until_ns <= now ? worked(i) : static_cast<void>(i++);
  }
}

/// Counts before it sends, so that a client never has an exchange that is not counted here.
void H2Server::respond(Call& call, std::size_t exchanges) {
  Request& request = call.request;
  traffic().received.add(request.received);
  traffic().sent.add(answering_.down_bytes() * static_cast<std::int64_t>(exchanges));
  traffic().exchanges.add(static_cast<std::int64_t>(exchanges));
  call.owed += exchanges;
  request.whole -= exchanges;
  request.received = 0;
  if (call.begun) return session_.resume(call);
  call.begun = true;
  more(call);
  session_.respond(call, *request.fields);
}

void H2Server::more(Stream& stream) {
  Call& call = static_cast<Call&>(stream);
  Request& request = call.request;
  if (request.out.more) {
    answering_.next(request);
    call.body = request.out.piece;
  } else if (call.owed > 0) {
    call.owed--;
    answering_.begin(request);
    call.body = request.out.piece;
  }
  call.more = request.out.more || call.owed > 0 || request.whole > 0 || !call.answered;
}

void H2Server::closed(Stream& stream, std::uint32_t) {
  Call& call = static_cast<Call&>(stream);
  if (call.owing > 0) std::erase_if(owing_, [&call](const Owing& owing) { return owing.call == &call; });
  spare_.push_back(&call);
}

}  // namespace netdyno::h2
