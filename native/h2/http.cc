#include "h2/http.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "http1/text.h"
#include "kit/address.h"
#include "kit/random_content.h"

namespace netdyno::h2 {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr char kMediaType[] = "application/octet-stream";
/// How far a wrong body is read, so that its stream can be ended in order, in bytes.
constexpr std::int64_t kWrongRead = 256 << 10;
/// How much of a body is kept to explain a status, in bytes.
constexpr std::size_t kReason = 200;
constexpr std::size_t kMinRead = 4 << 10;
constexpr std::size_t kMaxRead = 128 << 10;

void check(const contract::Setup& setup) {
  for (const auto& [name, bytes] :
       {std::pair{"up_bytes", setup.exchange.up_bytes}, {"down_bytes", setup.exchange.down_bytes}}) {
    if (bytes >= 0 && bytes <= contract::kMaxFlowMessage) continue;
    throw Failure(ErrorKind::setup, "exchange." + std::string(name) + " is " + std::to_string(bytes) +
                                        ", expected 0 to " + std::to_string(contract::kMaxFlowMessage));
  }
}

std::string content_of(std::int64_t bytes, char direction) {
  return random_content(static_cast<std::size_t>(bytes), direction);
}

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
    : ask_(http1::ask_of(setup)),
      down_bytes_(setup.exchange.down_bytes),
      connections_(setup.load.connections),
      scheme_(setup.tls ? "https" : "http") {
  check(setup);
  content_ = ask_.body.empty() ? content_of(setup.exchange.up_bytes, 'u') : ask_.body;
  if (ask_.verify == http1::Verify::content) expected_ = content_of(down_bytes_, 'd');
  for (const Route& route : routes(setup)) {
    std::deque<Fields>& all = requests_.emplace_back();
    const std::string host = ask_.host.empty() ? route.peer.text() : ask_.host;
    for (const std::string& path : ask_.paths) compose(all.emplace_back(), path, host);
  }
}

void HttpAsking::compose(Fields& fields, const std::string& path, const std::string& host) const {
  const std::string method = !ask_.method.empty() ? ask_.method : content_.empty() ? "GET" : "POST";
  fields.add(":method", method);
  fields.add(":scheme", scheme_);
  fields.add(":path", path);
  fields.add(":authority", host);
  std::vector<std::pair<std::string, std::string>> headers = {{"user-agent", "netdyno"}};
  if (!content_.empty()) headers.emplace_back("content-type", kMediaType);
  std::erase_if(headers, [this](const auto& own) {  // the user's take the place of ours
    return std::any_of(ask_.headers.begin(), ask_.headers.end(),
                       [&own](const auto& given) { return http1::same_header(own.first, given.first); });
  });
  for (const auto& [name, value] : ask_.headers) {
    if (!of_connections(name)) headers.emplace_back(lower(name), value);
  }
  for (auto& [name, value] : headers) fields.add(std::move(name), std::move(value));
  const bool sized = !content_.empty() || method == "POST" || method == "PUT" || method == "PATCH";
  if (sized) fields.add("content-length", std::to_string(content_.size()));
}

const Fields& HttpAsking::fields(std::int64_t connection, std::size_t turn) const {
  const auto& all = requests_[static_cast<std::size_t>(connection) % requests_.size()];
  if (all.size() == 1) return all.front();
  const auto first =
      static_cast<std::size_t>(connection * static_cast<std::int64_t>(all.size()) / connections_);
  return all[(first + turn) % all.size()];
}

void HttpAsking::field(Reply& reply, std::string_view name, std::string_view value) const {
  if (name == ":status") std::from_chars(value.data(), value.data() + value.size(), reply.status);
}

bool HttpAsking::data(Reply& reply, std::string_view bytes) const {
  if (reply.first) {
    const std::size_t most = std::max(expected_.size(), kReason);
    reply.kept.append(bytes.substr(0, most - std::min(most, reply.kept.size())));
  }
  reply.bytes += static_cast<std::int64_t>(bytes.size());
  return reply.bytes <= most_body();
}

std::int64_t HttpAsking::most_body() const {
  return any() ? contract::kMaxFlowMessage : down_bytes_ + kWrongRead;
}

Verdict HttpAsking::judge(const Reply& reply) const {
  return {reply.bytes, ask_.takes(reply.status) && (any() || reply.bytes == down_bytes_)};
}

std::string HttpAsking::explain(const Reply& reply) const {
  if (!ask_.takes(reply.status)) {
    const std::string line = reply.kept.substr(0, std::min(kReason, reply.kept.find('\n')));
    return "the reply has status " + std::to_string(reply.status) +
           (line.empty() ? "" : " (" + http1::shown(line, kReason) + ")") + ", expected " +
           (ask_.success ? "2xx" : std::to_string(ask_.status));
  }
  if (reply.bytes > most_body()) {
    return "the reply has more than the expected " + std::to_string(down_bytes_) + " bytes";
  }
  return "the reply has " + std::to_string(reply.bytes) + " bytes, expected " + std::to_string(down_bytes_);
}

std::string HttpAsking::reason(const Reply& reply) const {
  return ask_.takes(reply.status) ? explain(reply) : http1::status_text(reply.status);
}

std::string HttpAsking::compare(const Reply& reply) const {
  if (ask_.verify != http1::Verify::content || reply.kept == expected_) return "";
  return "the reply has other content than our servers send (a server that is not netdyno's sends other "
         "content: drive it with opt.verify=length)";
}

std::size_t HttpAsking::read_size(std::size_t in_flight) const {
  constexpr std::size_t kHead = 256;
  if (any() || down_bytes_ > static_cast<std::int64_t>(kMaxRead)) return kMaxRead;
  return std::clamp((static_cast<std::size_t>(down_bytes_) + kHead) * in_flight, kMinRead, kMaxRead);
}

HttpAnswering::HttpAnswering(const contract::Setup& setup)
    : up_bytes_(setup.exchange.up_bytes), down_bytes_(setup.exchange.down_bytes) {
  check(setup);
  content_ = content_of(down_bytes_, 'd');
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
  return request.bytes <= up_bytes_ + kWrongRead;
}

void HttpAnswering::answer(Request& request) const {
  const bool served = request.method == "GET" || request.method == "POST";
  if (served && request.bytes == up_bytes_) {
    request.right = true;
    request.whole = 1;
    request.received = up_bytes_;
    request.fields = &right_;
    return;
  }
  std::string& text = request.out.room;
  if (!served) {
    text = "this method is not served, expected GET or POST\n";
  } else if (request.bytes > up_bytes_ + kWrongRead) {
    text = "the request has more than the expected " + std::to_string(up_bytes_) + " bytes\n";
  } else {
    text = "the request has " + std::to_string(request.bytes) + " bytes, expected " +
           std::to_string(up_bytes_) + "\n";
  }
  Fields& fields = request.own_fields;
  fields.add(":status", served ? "400" : "405");
  if (!served) fields.add("allow", "GET, POST");
  fields.add("content-type", "text/plain; charset=utf-8");
  fields.add("content-length", std::to_string(text.size()));
  request.fields = &fields;
  if (request.method != "HEAD") request.out.piece = text;
}

}  // namespace netdyno::h2
