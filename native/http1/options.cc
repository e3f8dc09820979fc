#include "http1/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "http1/terms.h"
#include "kit/ends.h"
#include "kit/options.h"
#include "kit/sockets.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;
using contract::Role;

namespace {

constexpr std::int64_t kMostHead = 64 << 10;  // bytes of all headers of a user's
constexpr std::int64_t kMostBody = 64 << 20;  // bytes of a user's body
constexpr std::int64_t kMostPath = 8 << 10;   // as internal/paths has it

[[noreturn]] void refuse(const std::string& option, const std::string& text) {
  throw Failure(ErrorKind::setup, "option " + option + ": " + text);
}

/// Headers that say how a request is framed, which the client does itself.
bool is_framing(std::string_view name) {
  for (const std::string_view own : {"Content-Length", "Transfer-Encoding", "Trailer"}) {
    if (same_header(name, own)) return true;
  }
  return false;
}

/// Adds the lines of option headers. Their values, which may be passwords, are never shown.
void add_headers(Ask& ask, std::string_view text) {
  for (const auto& [name, value, whole] : header_lines(text)) {
    if (!whole || !is_token(name) || !is_value(value)) {
      refuse("headers", "found a line that is not a header, expected Name: value");
    }
    if (is_framing(name)) continue;
    if (same_header(name, "Host")) {
      if (ask.host.empty()) ask.host = value;
      continue;
    }
    ask.headers.emplace_back(name, value);
    if (ask.headers.size() > kMostHeaders) refuse("headers", "more than " + std::to_string(kMostHeaders));
  }
}

std::string path_of(const contract::Options& options) {
  auto path = given_text(options, "path", kMostPath);
  // After the host further slashes can only be of the path.
  const std::size_t slashes = std::min(path.find_first_not_of('/'), path.size());
  const std::string wrong = wrong_path(std::string_view(path).substr(slashes > 1 ? slashes - 1 : 0));
  if (!wrong.empty()) throw Failure(ErrorKind::setup, "option path is " + wrong);
  return path;
}

}  // namespace

std::vector<Option> options() {
  Option path = given_option("path", "/exchange", kMostPath,
                             "what the client asks for; our servers answer any path, another's may not");
  Option method =
      text_option("method", "", "method of the requests; GET without content and POST with it unless given");
  Option headers =
      given_option("headers", "", kMostHead, "headers of the requests, \"Name: value\", one a line");
  Option body =
      given_option("body", "", kMostBody,
                   "body of the requests, in place of random content; as long as the factor request says");
  Option host = text_option("host", "", "Host header of the requests; the server's address unless given");
  Option status = integer_option("status", {200, 100, 599}, "status that every reply must have");
  Option verify = choice_option(
      "verify", {"content", "length", "status"},
      "what is compared before ready: the content that our servers send, or only its "
      "length, for a server of yours; status: replies may have any length, and what came is counted");
  std::vector<Option> all;
  for (Option* option : {&path, &method, &headers, &body, &host, &status, &verify}) {
    all.push_back(only(Role::client, std::move(*option)));
  }
  return joined(std::move(all), loop_options());
}

Verify verify_of(const contract::Options& options) {
  const auto verify = options.at("verify").get<std::string>();
  return verify == "content" ? Verify::content : verify == "length" ? Verify::length : Verify::status;
}

Ask ask_of(const contract::Setup& setup) {
  const contract::Options& o = setup.options;
  Ask ask;
  ask.method = o.at("method").get<std::string>();
  ask.host = o.at("host").get<std::string>();
  ask.body = given_text(o, "body", kMostBody);
  ask.status = o.at("status").get<int>();
  ask.verify = verify_of(o);
  if (!ask.method.empty() && !is_token(ask.method)) {
    refuse("method", shown(ask.method, 40) + " is not a method, such as GET or PUT");
  }
  if (!is_host(ask.host)) {
    refuse("host", shown(ask.host, 80) + " is not a host, such as example.org or example.org:8080");
  }
  add_headers(ask, given_text(o, "headers", kMostHead));
  if (!is_host(ask.host)) {
    refuse("headers", shown(ask.host, 80) + " is not a host, such as example.org or example.org:8080");
  }
  const auto data = o.find("data");  // of a client that fills its requests
  const bool fills = data != o.end() && !data->second.get<std::string>().empty();
  if (!ask.body.empty() && !fills && static_cast<std::int64_t>(ask.body.size()) != setup.exchange.up_bytes) {
    refuse("body", "it has " + std::to_string(ask.body.size()) + " bytes and the factor request says " +
                       std::to_string(setup.exchange.up_bytes) + "; expected the same");
  }
  ask.path = path_of(o);
  return ask;
}

namespace {

constexpr std::size_t kMostShown = 80;
constexpr std::string_view kExample = "such as /index.html?page=2";

std::string hexadecimal(unsigned char byte) {
  std::array<char, 4> text{};
  std::snprintf(text.data(), text.size(), "%02X", byte);
  return text.data();
}

bool is_escape(std::string_view path, std::size_t percent) {
  return percent + 2 < path.size() && std::isxdigit(static_cast<unsigned char>(path[percent + 1])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(path[percent + 2])) != 0;
}

}  // namespace

std::string wrong_path(std::string_view path) {
  if (path.size() > kMostPath) {
    return "a path of " + std::to_string(path.size()) + " bytes, expected at most " +
           std::to_string(kMostPath);
  }
  const std::string example = std::string(kExample);
  if (path.find("://") != std::string_view::npos && path[0] != '/') {
    return shown(path, kMostShown) + " is a URL; expected a path alone, " + example;
  }
  if (path.empty() || path[0] != '/' || path.substr(0, 2) == "//") {
    return shown(path, kMostShown) + " is not a path; expected one that begins with one slash, " + example;
  }
  for (std::size_t i = 0; i < path.size(); i++) {
    const auto byte = static_cast<unsigned char>(path[i]);
    if (byte <= ' ' || byte >= 0x7f || byte == '#') {
      return shown(path, kMostShown) + " holds a byte that no request line can; write it as %" +
             hexadecimal(byte);
    }
    if (byte == '%' && !is_escape(path, i)) {
      return shown(path, kMostShown) + " is not a path: it has a % without two hexadecimal digits after it";
    }
  }
  return {};
}

}  // namespace netdyno::http1
