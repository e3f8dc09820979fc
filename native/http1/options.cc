#include "http1/options.h"

#include <algorithm>
#include <string_view>

#include "http1/paths.h"
#include "http1/text.h"
#include "kit/ends.h"
#include "kit/options.h"
#include "kit/sockets.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;
using contract::Role;

namespace {

constexpr char kPath[] = "/exchange";
constexpr std::size_t kMostHeaders = 1000;
constexpr std::int64_t kMostHead = 64 << 10;   // bytes of all headers of a user's
constexpr std::int64_t kMostBody = 64 << 20;   // bytes of a user's body
constexpr std::int64_t kMostPath = 8 << 10;    // as internal/paths has it
constexpr std::int64_t kMostPaths = 16 << 20;  // of a file of paths, likewise

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

/// Adds one line of option headers. Its value, which may be a password, is never shown.
void add_header(Ask& ask, std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view name = trimmed(line.substr(0, colon));
  const std::string_view value = colon == std::string_view::npos ? "" : trimmed(line.substr(colon + 1));
  if (colon == std::string_view::npos || !is_token(name) || !is_value(value)) {
    refuse("headers", "found a line that is not a header, expected Name: value");
  }
  if (is_framing(name)) return;
  if (same_header(name, "Host")) {
    if (ask.host.empty()) ask.host = value;
    return;
  }
  ask.headers.emplace_back(name, value);
  if (ask.headers.size() > kMostHeaders) refuse("headers", "more than " + std::to_string(kMostHeaders));
}

void add_headers(Ask& ask, std::string_view text) {
  while (!text.empty()) {
    if (const std::string_view line = next_line(text); !line.empty()) add_header(ask, line);
  }
}

std::vector<std::string> paths_of(const contract::Json& options, Verify verify) {
  const auto path = given_text(options, "path", kMostPath);
  auto file = options.at("paths").get<std::string>();
  if (file.empty()) {
    // After the host, unlike in a list, further slashes can only be of the path.
    const std::size_t slashes = std::min(path.find_first_not_of('/'), path.size());
    const std::string wrong = wrong_path(std::string_view(path).substr(slashes > 1 ? slashes - 1 : 0));
    if (!wrong.empty()) {
      throw Failure(ErrorKind::setup, "option path is " + wrong);
    }
    return {path};
  }
  if (verify != Verify::status)
    refuse("paths", "replies to several paths differ; expected verify=status beside it");
  if (path != kPath) refuse("paths", "option path names " + shown(path, 80) + "; expected one of them");
  if (file[0] == '@') file.erase(0, 1);  // the option names a file in any case
  return read_paths(file);
}

}  // namespace

std::vector<Option> options() {
  Option path = given_option("path", kPath, kMostPath,
                             "what the client asks for; our servers answer any path, another's may not");
  Option paths = given_option("paths", "", kMostPaths,
                              "file of paths, one a line, that the client asks for in turn in place of path; "
                              "with verify=status, when any status 2xx will do");
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
  for (Option* option : {&path, &paths, &method, &headers, &body, &host, &status, &verify}) {
    all.push_back(only(Role::client, std::move(*option)));
  }
  for (Option& option : socket_options()) all.push_back(std::move(option));
  all.push_back(listener_option());
  for (Option& option : pace_options()) all.push_back(std::move(option));
  all.push_back(read_buffer_option());
  return all;
}

Ask ask_of(const contract::Setup& setup) {
  const contract::Json& o = setup.options;
  Ask ask;
  ask.method = o.at("method").get<std::string>();
  ask.host = o.at("host").get<std::string>();
  ask.body = given_text(o, "body", kMostBody);
  ask.status = o.at("status").get<int>();
  const auto verify = o.at("verify").get<std::string>();
  ask.verify = verify == "content" ? Verify::content : verify == "length" ? Verify::length : Verify::status;
  ask.success = !o.at("paths").get<std::string>().empty() && ask.status == 200;
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
  if (!ask.body.empty() && static_cast<std::int64_t>(ask.body.size()) != setup.exchange.up_bytes) {
    refuse("body", "it has " + std::to_string(ask.body.size()) + " bytes and the factor request says " +
                       std::to_string(setup.exchange.up_bytes) + "; expected the same");
  }
  ask.paths = paths_of(o, ask.verify);
  return ask;
}

}  // namespace netdyno::http1
