#include "h2/server.h"

namespace netdyno::h2 {

H2Server::H2Server(const Answering& answering, const Settings& settings, std::size_t size, Traffic& traffic)
    : ServerFlow(size, traffic), answering_(answering), session_(End::server, settings) {
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
  if (session_.broken()) traffic().invalid.add(1);
  over_ = session_.broken() || session_.over();
}

Stream* H2Server::began() {
  if (spare_.empty()) {
    all_.push_back(std::make_unique<Incoming>());
    spare_.push_back(all_.back().get());
  }
  Incoming* const incoming = spare_.back();
  spare_.pop_back();
  static_cast<Stream&>(*incoming) = Stream{};
  incoming->request.begin();
  incoming->answered = false;
  return incoming;
}

void H2Server::field(Stream& stream, std::string_view name, std::string_view value) {
  answering_.field(static_cast<Incoming&>(stream).request, name, value);
}

void H2Server::data(Stream& stream, std::string_view bytes) {
  Incoming& incoming = static_cast<Incoming&>(stream);
  if (!answering_.data(incoming.request, bytes)) answer(incoming);
}

void H2Server::ended(Stream& stream) {
  Incoming& incoming = static_cast<Incoming&>(stream);
  if (!incoming.answered) answer(incoming);
}

void H2Server::answer(Incoming& incoming) {
  Request& request = incoming.request;
  answering_.answer(request);
  incoming.answered = true;
  // What still comes of a request that was too long is dropped.
  if (!incoming.ended) incoming.given_up = true;
  if (request.right) {
    // Counted before it is sent, so that a client never has an exchange that is not counted
    // here.
    traffic().received.add(request.received);
    traffic().sent.add(answering_.down_bytes());
    traffic().exchanges.add(1);
  } else {
    traffic().invalid.add(1);
  }
  incoming.body = request.body;
  incoming.trailers = request.trailers;
  session_.respond(incoming, *request.fields);
}

void H2Server::closed(Stream& stream, std::uint32_t) { spare_.push_back(&static_cast<Incoming&>(stream)); }

}  // namespace netdyno::h2
