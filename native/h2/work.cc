#include "h2/work.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "h2/client.h"
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
  transport.features = tls::with_tls({"fresh", "turns", "sizes", "arrivals", "mix", "trace", "times", "think",
                                      "deadline", "work-cpu", "work-sleep"});
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
  return tls::over(setup, kAlpn, std::make_unique<H2Work>(setup, std::move(asking), std::move(answering)));
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
      terms_(setup),
      expected_(terms_.expected_content()),
      scheme_(setup.tls ? "https" : "http"),
      requests_(setup, terms_, [&](auto& all, const auto& path, const auto& host) {
        Fields& fields = all.emplace_back();
        const http1::Kind& kind = terms_.kind(0);
        fields.add(":method", kind.method);
        fields.add(":scheme", scheme_);
        fields.add(":path", path);
        fields.add(":authority", host);
        add_headers(fields, kind);
        if (kind.sized && !draws().vary()) {
          fields.add("content-length", std::to_string(terms_.content().size()));
        }
      }) {
  for (std::size_t i = 0; i < setup.load.classes.size(); i++)
    add_headers(kinds_.emplace_back(), terms_.kind(static_cast<std::int32_t>(i)));
}

void HttpAsking::add_headers(Fields& to, const http1::Kind& kind) const {
  for (const auto& [name, value] : kind.headers) {
    if (!of_connections(name)) to.add(lower(name), value);
  }
}

void HttpAsking::compose(Fields& own, std::int64_t connection, std::size_t turn, const Draw& draw) const {
  const http1::Kind& kind = terms_.kind(draw.of_class);
  if (kinds_.empty()) {
    own.follow(fields(connection, turn));
  } else {
    own.clear();
    own.add(":method", kind.method);
    own.add(":scheme", scheme_);
    own.add(":path", terms_.path(draw, requests_.path(connection, turn)), kind.pieces.size() > 1);
    own.add(":authority", requests_.host(connection));
    own.add(kinds_[static_cast<std::size_t>(draw.of_class)]);
  }
  if (draws().asks()) own.add(kDownHeader, std::to_string(draw.down), true);
  if (kind.sized || draw.up > 0) own.add("content-length", std::to_string(draw.up), true);
}

void HttpAsking::field(Reply& reply, std::string_view name, std::string_view value) const {
  if (name == ":status") std::from_chars(value.data(), value.data() + value.size(), reply.status);
}

bool HttpAsking::data(Reply& reply, std::string_view bytes) const {
  if (reply.first) {
    const std::size_t most = std::max(expected_.size(), http1::kMostReason);
    reply.kept.append(bytes.substr(0, most - std::min(most, reply.kept.size())));
  }
  reply.bytes += static_cast<std::int64_t>(bytes.size());
  return reply.bytes <= terms_.most_body();
}

void HttpAsking::require(const Reply& reply) const {
  const std::string_view begin = std::string_view(reply.kept).substr(0, http1::kMostReason);
  if (!terms_.takes(found(reply))) terms_.refuse(found(reply), "", begin);
  const auto expected = std::string_view(expected_).substr(0, static_cast<std::size_t>(reply.expected));
  terms_.require_content(reply.kept == expected);
}

std::size_t HttpAsking::read_size(std::size_t in_flight) const {
  constexpr std::int64_t kHead = 256;
  return http1::read_size_for(terms_.down_bytes() + kHead, in_flight, terms_.any());
}

HttpAnswering::HttpAnswering(const contract::Setup& setup)
    : draws_(setup), up_bytes_(setup.exchange.up_bytes), down_bytes_(setup.exchange.down_bytes) {
  http1::check_sizes(setup);
  content_ = http1::content_of(down_bytes_, 'd');
  right_.add(":status", "200");
  right_.add("content-type", kMediaType);
  if (!draws_.down_varies()) right_.add("content-length", std::to_string(content_.size()));
}

void HttpAnswering::field(Request& request, std::string_view name, std::string_view value) const {
  constexpr std::size_t kMostMethod = 16;
  if (name == ":method") request.method = value.substr(0, kMostMethod);
  if (draws_.down_varies() && name == kDownHeader) request.asked.read(value, down_bytes_);
}

bool HttpAnswering::data(Request& request, std::string_view bytes) const {
  request.bytes += static_cast<std::int64_t>(bytes.size());
  return request.bytes <= up_bytes_ + http1::kWrongRead;
}

std::string HttpAnswering::wrong(const Request& request) const {
  const bool fits = draws_.up_varies() ? request.bytes <= up_bytes_ : request.bytes == up_bytes_;
  if (request.bytes > up_bytes_ + http1::kWrongRead) {
    return "the request has more than the expected " + std::to_string(up_bytes_) + " bytes";
  }
  if (!fits) {
    return "the request has " + std::to_string(request.bytes) + " bytes, expected " +
           (draws_.up_varies() ? "at most " : "") + std::to_string(up_bytes_);
  }
  if (draws_.down_varies() && request.asked.bytes < 0) return request.asked.problem(down_bytes_);
  return "";
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
    if (!draws_.down_varies()) return;
    request.own_fields.follow(right_);
    request.own_fields.add("content-length", std::to_string(request.asked.bytes), true);
    request.fields = &request.own_fields;
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
