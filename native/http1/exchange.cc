#include "http1/exchange.h"

#include <algorithm>
#include <utility>

#include "http1/text.h"
#include "kit/address.h"
#include "kit/random_content.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr char kMediaType[] = "Content-Type: application/octet-stream\r\n";
/// How far a wrong body is read, so that the connection can be used again, in bytes.
constexpr std::int64_t kWrongRead = 256 << 10;
constexpr std::size_t kMinRead = 4 << 10;
constexpr std::size_t kMaxRead = 128 << 10;

void check(const contract::Setup& setup) {
  const auto& [up, down] = std::pair{setup.exchange.up_bytes, setup.exchange.down_bytes};
  for (const auto& [name, bytes] : {std::pair{"up_bytes", up}, {"down_bytes", down}}) {
    if (bytes >= 0 && bytes <= contract::kMaxFlowMessage) continue;
    throw Failure(ErrorKind::setup, "exchange." + std::string(name) + " is " + std::to_string(bytes) +
                                        ", expected 0 to " + std::to_string(contract::kMaxFlowMessage));
  }
  if (setup.role == contract::Role::client && setup.load.in_flight > 1) {
    throw Failure(ErrorKind::unsupported,
                  "load.in_flight is " + std::to_string(setup.load.in_flight) +
                      ": HTTP/1.1 carries one exchange at a time on a connection; use more connections");
  }
}

std::string content_of(std::int64_t bytes, char direction) {
  return random_content(static_cast<std::size_t>(bytes), direction);
}

std::string length_of(std::size_t bytes) { return "Content-Length: " + std::to_string(bytes) + "\r\n"; }

/// A reply of one line of text.
Message text_reply(const std::string& status, const std::string& more, const std::string& line) {
  return {"HTTP/1.1 " + status + "\r\nContent-Type: text/plain; charset=utf-8\r\n" + more +
              length_of(line.size()) + "\r\n",
          line, true};
}

}  // namespace

Asking::Asking(const contract::Setup& setup)
    : ask_(ask_of(setup)),
      down_bytes_(setup.exchange.down_bytes),
      fresh_(setup.load.fresh),
      connections_(setup.load.connections) {
  check(setup);
  content_ = ask_.body.empty() ? content_of(setup.exchange.up_bytes, 'u') : ask_.body;
  const std::string method = method_of();
  repeatable_ = method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE" ||
                method == "PUT" || method == "DELETE";
  compose(setup);
}

std::string Asking::method_of() const {
  return !ask_.method.empty() ? ask_.method : content_.empty() ? "GET" : "POST";
}

void Asking::compose(const contract::Setup& setup) {
  const bool gathered = ask_.paths.size() == 1 && content_.size() <= Message::kGathered;
  for (const Route& route : routes(setup)) {
    const std::string host = ask_.host.empty() ? route.peer.text() : ask_.host;
    std::vector<Message>& all = requests_.emplace_back();
    all.reserve(ask_.paths.size());
    for (const std::string& path : ask_.paths) all.emplace_back(head_of(path, host), content_, gathered);
  }
}

std::string Asking::head_of(const std::string& path, const std::string& host) const {
  const std::string method = method_of();
  std::string head = method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n";
  std::vector<std::pair<std::string, std::string>> headers = {{"User-Agent", "netdyno"}};
  if (!content_.empty()) headers.emplace_back("Content-Type", "application/octet-stream");
  std::erase_if(headers, [this](const auto& own) {  // the user's take the place of ours
    return std::any_of(ask_.headers.begin(), ask_.headers.end(),
                       [&own](const auto& given) { return same_header(own.first, given.first); });
  });
  headers.insert(headers.end(), ask_.headers.begin(), ask_.headers.end());
  for (const auto& [name, value] : headers) head += name + ": " + value + "\r\n";
  const bool sized = !content_.empty() || method == "POST" || method == "PUT" || method == "PATCH";
  if (sized) head += length_of(content_.size());
  if (fresh_) head += "Connection: close\r\n";
  return head + "\r\n";
}

const Message& Asking::request(std::int64_t connection, std::size_t turn) const {
  const auto& all = requests_[static_cast<std::size_t>(connection) % requests_.size()];
  if (all.size() == 1) return all.front();
  const auto first =
      static_cast<std::size_t>(connection * static_cast<std::int64_t>(all.size()) / connections_);
  return all[(first + turn) % all.size()];
}

std::string Asking::explain(const Reply& reply, const std::string& phrase, const std::string& reason) const {
  if (!ask_.takes(reply.status)) {
    const std::string wanted = ask_.success ? "2xx" : status_text(ask_.status);
    return "the reply has status " + std::to_string(reply.status) + (phrase.empty() ? "" : " " + phrase) +
           reason + ", expected " + wanted;
  }
  if (reply.bytes > most_body()) {
    return "the reply has more than the expected " + std::to_string(down_bytes_) + " bytes";
  }
  return "the reply has " + std::to_string(reply.bytes) + " bytes, expected " + std::to_string(down_bytes_);
}

std::string Asking::wrong(const Reply& reply) const {
  return ask_.takes(reply.status) ? explain(reply, "", "") : status_text(reply.status);
}

std::string Asking::expected_content() const {
  return ask_.verify == Verify::content ? content_of(down_bytes_, 'd') : "";
}

std::int64_t Asking::most_body() const {
  return any() ? contract::kMaxFlowMessage : down_bytes_ + kWrongRead;
}

std::size_t Asking::read_size() const {
  constexpr std::int64_t kHead = 1 << 10;
  if (any()) return kMaxRead;
  return std::clamp(static_cast<std::size_t>(down_bytes_ + kHead), kMinRead, kMaxRead);
}

Answering::Answering(const contract::Setup& setup)
    : up_bytes_(setup.exchange.up_bytes), down_bytes_(setup.exchange.down_bytes) {
  check(setup);
  content_ = content_of(down_bytes_, 'd');
  const std::string head = "HTTP/1.1 200 OK\r\n" + std::string(kMediaType) + length_of(content_.size());
  right_.emplace(head + "\r\n", content_, content_.size() <= Message::kGathered);
  last_.emplace(head + "Connection: close\r\n\r\n", content_, false);
  const std::string allow = "Allow: GET, POST\r\n";
  not_allowed_ =
      text_reply("405 Method Not Allowed", allow, "this method is not served, expected GET or POST\n");
  not_allowed_head_ = text_reply("405 Method Not Allowed", allow, "");
  proceed_.emplace("HTTP/1.1 100 Continue\r\n\r\n", "", true);
}

Message Answering::wrong(const std::string& why) {
  return text_reply("400 Bad Request", "Connection: close\r\n", why + "\n");
}

std::int64_t Answering::most_body() const { return up_bytes_ + kWrongRead; }

}  // namespace netdyno::http1
