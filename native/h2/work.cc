#include "h2/work.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "h2/client.h"
#include "http1/tunnel.h"
#include "tls/work.h"

namespace netdyno::h2 {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;

H2Work::H2Work(const contract::Setup& setup, std::unique_ptr<const Asking> asking,
               std::unique_ptr<const Answering> answering)
    : asking_(std::move(asking)),
      answering_(std::move(answering)),
      service_(Service::of(setup)),
      settings_(Settings::of(setup)),
      in_flight_(setup.load.in_flight),
      fresh_(setup.load.fresh) {
  if (setup.role != Role::client) return;
  if (fresh_ && in_flight_ > 1) {
    throw Failure(ErrorKind::unsupported,
                  "load.in_flight is " + std::to_string(in_flight_) +
                      ": a connection that is made for one exchange carries one; use more connections");
  }
  sessions_.resize(static_cast<std::size_t>(setup.load.connections));
}

std::unique_ptr<Flow> H2Work::client(const Place& place) const {
  auto session = std::move(sessions_.at(static_cast<std::size_t>(place.connection)));
  if (fresh_) session.reset();
  return std::make_unique<H2Client>(*asking_, settings_, place, fresh_, std::move(session));
}

std::unique_ptr<Flow> H2Work::server(std::size_t buffer, Traffic& traffic) const {
  return std::make_unique<H2Server>(*answering_, settings_, buffer, traffic, service_.get());
}

std::unique_ptr<Work::Verification> H2Work::verification(std::int64_t connection) const {
  return std::make_unique<h2::Verification>(*asking_, settings_, connection, in_flight_,
                                            sessions_.at(static_cast<std::size_t>(connection)));
}

contract::Transport transport(const std::string& name, const std::string& doc) {
  contract::Transport transport;
  transport.name = name;
  transport.doc = doc;
  transport.wire = kH2C;
  transport.roles = {Role::server, Role::client};
  transport.delivery = "chunks";
  transport.options = tls::with_trust(http1::options());
  for (contract::Option& option : setting_options()) transport.options.push_back(std::move(option));
  transport.features = tls::with_tls({"fresh", "events", "stages", "turns", "gather", "turns-mix", "mix",
                                      "headers", "deadline", "work-cpu", "work-sleep"});
  return transport;
}

std::unique_ptr<const Work> work_of(const contract::Setup& setup) {
  std::unique_ptr<const Asking> asking;
  std::unique_ptr<const Answering> answering;
  if (setup.role == Role::server) {
    answering = std::make_unique<HttpAnswering>(setup);
  } else {
    asking = std::make_unique<HttpAsking>(setup);
  }
  auto work = std::make_unique<H2Work>(setup, std::move(asking), std::move(answering));
  return http1::through(setup, tls::over(setup, kAlpn, std::move(work)));
}

namespace {

constexpr char kMediaType[] = "application/octet-stream";

/// Headers that HTTP/2 does not have (RFC 9113, section 8.2.2).
bool of_connections(std::string_view name) {
  for (const std::string_view own : {"connection", "keep-alive", "proxy-connection", "upgrade"}) {
    if (http1::same_header(name, own)) return true;
  }
  return false;
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

HttpAsking::HttpAsking(const contract::Setup& setup)
    : Asking(setup),
      kinds_(setup),
      routes_(kinds_.common().hosts(setup).size()),
      expected_(kinds_.common().expected_content()) {
  if (!setup.tls && !setup.options.at("proxied").get<std::string>().empty()) {
    throw Failure(ErrorKind::unsupported,
                  "option proxied: HTTP/2 without TLS does not go through a proxy, which carries HTTP/1.1");
  }
  for (std::size_t of = 0; of < kinds_.count(); of++) {
    const http1::Terms& terms = kinds_.terms(of);
    for (const std::string& host : terms.hosts(setup)) {
      Fields& fields = fields_.emplace_back();
      fields.add(":method", terms.method());
      fields.add(":scheme", setup.tls ? "https" : "http");
      fields.add(":path", terms.path());
      fields.add(":authority", host);
      for (const auto& [name, value] : terms.headers()) {
        if (!of_connections(name)) fields.add(lower(name), value);
      }
      if (terms.sized()) fields.add("content-length", std::to_string(terms.content().size()));
    }
  }
}

const Fields& HttpAsking::fields(const http1::Turn& turn, std::optional<Fields>& own) const {
  constexpr std::size_t kPath = 2;
  const Fields& kept = fields_[turn.of * routes_ + static_cast<std::size_t>(turn.connection) % routes_];
  if (!kinds_.varied(turn.of)) return kept;
  if (!own) own.emplace();
  own->become(kept, kPath, kinds_.path(turn));
  return *own;
}

void HttpAsking::field(Reply& reply, std::string_view name, std::string_view value) const {
  if (name == ":status") std::from_chars(value.data(), value.data() + value.size(), reply.status);
}

bool HttpAsking::data(Reply& reply, std::string_view bytes) const {
  if (kinds_.common().reads_bodies()) {
    reply.kept.append(bytes);
  } else if (reply.first) {
    const std::size_t most = std::max(expected_.size(), http1::kMostReason);
    reply.kept.append(bytes.substr(0, most - std::min(most, reply.kept.size())));
  }
  reply.bytes += static_cast<std::int64_t>(bytes.size());
  return reply.bytes <= kinds_.common().most_body();
}

void HttpAsking::require(const Reply& reply, const http1::Turn& turn) const {
  const http1::Terms& terms = kinds_.terms(turn.of);
  const std::string_view begin = std::string_view(reply.kept).substr(0, http1::kMostReason);
  if (!terms.takes(found(reply))) terms.refuse(found(reply), "", begin, kinds_.named(turn));
  terms.require_content(reply.kept == std::string_view(expected_).substr(0, reply.kept.size()));
}

std::size_t HttpAsking::read_size(std::size_t in_flight) const {
  constexpr std::int64_t kHead = 256;
  return http1::read_size_for(kinds_.common().down_bytes() + kHead, in_flight, kinds_.common().any());
}

HttpAnswering::HttpAnswering(const contract::Setup& setup)
    : up_bytes_(setup.exchange.up_bytes), down_bytes_(setup.exchange.down_bytes) {
  http1::check_sizes(setup);
  content_ = http1::content_of(down_bytes_, 'd');
  right_.add(":status", "200");
  right_.add("content-type", kMediaType);
  right_.add("content-length", std::to_string(content_.size()));
}

void HttpAnswering::field(Request& request, std::string_view name, std::string_view value) const {
  constexpr std::size_t kMostMethod = 16;
  if (name == ":method") request.method = value.substr(0, kMostMethod);
}

bool HttpAnswering::data(Request& request, std::string_view bytes) const {
  request.bytes += static_cast<std::int64_t>(bytes.size());
  return request.bytes <= up_bytes_ + http1::kWrongRead;
}

std::string HttpAnswering::wrong(const Request& request) const {
  if (request.bytes > up_bytes_ + http1::kWrongRead) {
    return "the request has more than the expected " + std::to_string(up_bytes_) + " bytes";
  }
  if (request.bytes == up_bytes_) return "";
  return "the request has " + std::to_string(request.bytes) + " bytes, expected " + std::to_string(up_bytes_);
}

void HttpAnswering::answer(Request& request) const {
  const bool served = request.method == "GET" || request.method == "POST";
  std::string& text = request.out.room;
  text = served ? wrong(request) : "this method is not served, expected GET or POST";
  if (text.empty()) {
    request.right = true;
    request.whole = 1;
    request.received = request.bytes;
    request.fields = &right_;
    return;
  }
  text += '\n';
  Fields& fields = request.own_fields;
  fields.add(":status", served ? "400" : "405");
  if (!served) fields.add("allow", "GET, POST");
  fields.add("content-type", "text/plain; charset=utf-8");
  fields.add("content-length", std::to_string(text.size()));
  request.fields = &fields;
  if (request.method != "HEAD") request.out.piece = text;
}

}  // namespace netdyno::h2
