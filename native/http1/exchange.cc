#include "http1/exchange.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr char kMediaType[] = "Content-Type: application/octet-stream\r\n";

/// The setup, where this wire carries its exchanges.
const contract::Setup& checked(const contract::Setup& setup) {
  check_sizes(setup);
  if (setup.role == contract::Role::client && setup.load.in_flight > 1) {
    throw Failure(ErrorKind::unsupported,
                  "load.in_flight is " + std::to_string(setup.load.in_flight) +
                      ": HTTP/1.1 carries one exchange at a time on a connection; use more connections");
  }
  return setup;
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
    : terms_(checked(setup)),
      fresh_(setup.load.fresh),
      requests_(setup, terms_, [this](auto& all, const std::string& path, const std::string& host) {
        const std::string& content = terms_.content();
        all.emplace_back(head_of(path, host), content,
                         terms_.one_path() && content.size() <= Message::kGathered);
      }) {}

std::string Asking::head_of(const std::string& path, const std::string& host) const {
  std::string head = terms_.method() + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n";
  for (const auto& [name, value] : terms_.headers()) head += name + ": " + value + "\r\n";
  if (terms_.sized()) head += length_of(terms_.content().size());
  if (fresh_) head += "Connection: close\r\n";
  return head + "\r\n";
}

std::size_t Asking::read_size() const {
  constexpr std::int64_t kHead = 1 << 10;
  return read_size_for(terms_.down_bytes() + kHead, 1, terms_.any());
}

Answering::Answering(const contract::Setup& setup)
    : up_bytes_(setup.exchange.up_bytes), down_bytes_(setup.exchange.down_bytes) {
  check_sizes(setup);
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
