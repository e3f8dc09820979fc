#include "http1/server.h"

#include "http1/client.h"
#include "http1/events.h"
#include "http1/options.h"
#include "http1/tunnel.h"
#include "kit/ends.h"
#include "tls/work.h"

namespace netdyno::http1 {

HttpServer::HttpServer(const Answering& answering, std::size_t size, Traffic& traffic, Service* service)
    : ServerFlow(size, traffic), answering_(answering), service_(service), reader_(answering.most_body()) {}

std::span<char> HttpServer::read_buffer() {
  // The rest of what was read is another request, and is answered first.
  return reply_ != nullptr || resting_ || last_ ? std::span<char>() : buffer();
}

void HttpServer::received(std::size_t n, std::int64_t) {
  from_ = 0;
  to_ = n;
  advance();
}

/// Takes up what was read until there is something to say.
void HttpServer::advance() {
  while (from_ < to_ && !unsent() && !resting_ && !last_) {
    const auto bytes = buffer().subspan(from_, to_ - from_);
    switch (reader_.read(bytes)) {
      case Reader::Outcome::more:
        from_ = to_;
        if (reader_.take_expectation()) reply(answering_.proceed());
        return;
      case Reader::Outcome::complete:
        from_ += reader_.taken();
        answer();
        break;
      case Reader::Outcome::endless:
        refuse("the request has more than the expected " + std::to_string(answering_.up_bytes()) + " bytes");
        break;
      case Reader::Outcome::headless:
        refuse("the request has more than " + std::to_string(Reader::kMostHead) + " bytes of headers");
        break;
      case Reader::Outcome::malformed:
        refuse("this is no request of HTTP/1.1: " + reader_.problem());
        break;
    }
  }
}

/// A request is complete.
void HttpServer::answer() {
  const bool keeps = reader_.keeps();
  const std::int64_t found = reader_.body();
  if (!reader_.is(HTTP_GET) && !reader_.is(HTTP_POST)) {
    reply(answering_.not_allowed(reader_.is(HTTP_HEAD)));
    last_ = !keeps;
  } else if (found != answering_.up_bytes()) {
    refuse("the request has " + std::to_string(found) + " bytes, expected " +
           std::to_string(answering_.up_bytes()));
  } else {
    traffic().received.add(found);
    keeps_ = keeps;
    if (service_ != nullptr && service_->sleeps()) {
      resting_ = true;
      rest(now_ns() + service_->next());
    } else {
      if (service_ != nullptr) service_->serve();
      agree(keeps);
    }
  }
  reader_.next();
}

/// Answers a request that was right. It is counted before it is sent, so that a client never has an
/// exchange that is not counted here.
void HttpServer::agree(bool keeps) {
  traffic().sent.add(answering_.down_bytes());
  traffic().exchanges.add(1);
  reply(answering_.right(keeps));
  part_ = answering_.part_end(*reply_, 0);
  last_ = !keeps;
}

void HttpServer::rested(std::int64_t) {
  resting_ = false;
  if (reply_ == nullptr) agree(keeps_);
}

/// Answers what was wrong, and takes nothing more.
void HttpServer::refuse(const std::string& why) {
  traffic().invalid.add(1);
  refusal_.emplace(Answering::wrong(why));
  reply(*refusal_);
  last_ = true;
}

std::span<const char> HttpServer::outgoing(std::int64_t) {
  const auto rest = reply_->from(at_);
  return rest.first(std::min(rest.size(), part_ - at_));
}

/// Goes on to the next part of the reply once one is written, and rests until that is due.
void HttpServer::pace() {
  if (at_ < part_) return;
  part_ = answering_.part_end(*reply_, at_);
  if (answering_.every_ns() == 0) return;
  due_ += answering_.every_ns();
  if (due_ <= now_ns()) return;
  resting_ = true;
  rest(due_);
}

void HttpServer::written(std::size_t n) {
  if (at_ == 0 && answering_.every_ns() > 0) due_ = now_ns();
  at_ += n;
  if (at_ < reply_->size()) return pace();
  at_ = 0;
  reply_ = nullptr;
  advance();
}

namespace {

class HttpWork final : public Work {
 public:
  explicit HttpWork(const contract::Setup& setup) {
    if (setup.role == contract::Role::server) {
      answering_.emplace(setup);
      service_ = Service::of(setup);
    } else {
      asking_.emplace(setup);
      content_ = asking_->terms().expected_content();
    }
  }

  std::unique_ptr<Flow> client(const Place& place) const override {
    return std::make_unique<HttpClient>(asking_.value(), place);
  }
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override {
    return std::make_unique<HttpServer>(answering_.value(), buffer, traffic, service_.get());
  }
  std::unique_ptr<Work::Verification> verification(std::int64_t connection) const override {
    return std::make_unique<http1::Verification>(asking_.value(), content_, connection);
  }
  Repeats repeats() const override { return asking_->terms().repeats(); }
  std::vector<std::string> paths() const override { return asking_->kinds().path_names(); }

 private:
  std::optional<Asking> asking_;
  std::string content_;
  std::optional<Answering> answering_;
  std::unique_ptr<Service> service_;
};

}  // namespace

contract::Transport transport(const std::string& name, const std::string& doc) {
  contract::Transport transport;
  transport.name = name;
  transport.doc = doc;
  transport.wire = kHttp1;
  transport.roles = {contract::Role::server, contract::Role::client};
  transport.delivery = "chunks";
  transport.options = tls::with_trust(joined(joined(options(), fill_options()), event_options()));
  transport.features =
      tls::with_tls({"fresh", "stream-down", "events", "stages", "turns", "gather", "turns-mix", "mix",
                     "headers", "data", "deadline", "work-cpu", "work-sleep"});
  return transport;
}

std::string parser_version() {
  return std::to_string(LLHTTP_VERSION_MAJOR) + "." + std::to_string(LLHTTP_VERSION_MINOR) + "." +
         std::to_string(LLHTTP_VERSION_PATCH);
}

std::unique_ptr<const Work> work_of(const contract::Setup& setup) {
  return through(setup, tls::over(setup, kHttp1, std::make_unique<HttpWork>(setup)));
}

}  // namespace netdyno::http1
