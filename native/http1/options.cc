#include "http1/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "http1/terms.h"
#include "kit/ends.h"
#include "kit/histogram.h"
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
constexpr std::int64_t kMostPath = 8 << 10;   // as internal/paths has it, and what follows
constexpr std::int64_t kMostPaths = 16 << 20;
constexpr std::size_t kMostTurns = 100'000;
constexpr std::int64_t kMostBodies = 64 << 20;  // of all classes, in base64, as internal/work/wire has it
constexpr std::int64_t kMostExpected = 4 << 10;
/// The levels of option verify, in the order of Verify.
const std::vector<std::string> kVerify = {"content", "length",     "status", "body",
                                          "regexp",  "not-regexp", "json"};

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

/// Adds lines of headers, of an option or a class. Their values, which may be passwords, are never shown.
void add_headers(Ask& ask, std::string_view text, const std::string& of) {
  const auto refuse = [&of](const std::string& why) { throw Failure(ErrorKind::setup, of + ": " + why); };
  for (const auto& [name, value, whole] : header_lines(text)) {
    if (!whole || !is_token(name) || !is_value(value)) {
      refuse("found a line that is not a header, expected Name: value");
    }
    if (is_framing(name)) continue;
    if (same_header(name, "Host")) {
      if (ask.host.empty()) ask.host = value;
      continue;
    }
    ask.headers.emplace_back(name, value);
    if (ask.headers.size() > kMostHeaders) refuse("more than " + std::to_string(kMostHeaders));
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
  Option paths = given_option("paths", "", kMostPaths,
                              "file of paths, one a line, that the client asks for in turn in place of path; "
                              "with verify=status, when any status 2xx will do");
  Option bodies =
      given_option("bodies", "", kMostBodies,
                   "with a workload: what requests of each class carry in place of random content, "
                   "in base64, one a line in the order of the classes; an empty line keeps it random");
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
      "verify", kVerify,
      "what is compared before ready: the content that our servers send, or only its "
      "length, for a server of yours; status: replies may have any length, and what came is counted; the "
      "others: as status, and every body is the same, has a match of the pattern, or none, or fulfils a "
      "condition on its JSON");
  Option expected = given_option(
      "expected", "", kMostExpected,
      "with verify=body the body's SHA-256, that of the first reply unless given; with verify=regexp and "
      "not-regexp "
      "the pattern, in RE2's syntax, for the first MiB of a body; with verify=json the condition, such as "
      "$.errors == null");
  Option proxied = text_option(
      "proxied", "",
      "host:port of the server, where what the client connects to is an HTTP proxy: asked for by its whole "
      "URL, with TLS through a tunnel (CONNECT)");
  Option proxy_user = given_option("proxy_user", "", kMostHead, "with proxied: NAME:PASSWORD for the proxy");
  std::vector<Option> all;
  for (Option* option : {&path, &paths, &method, &headers, &body, &bodies, &host, &status, &verify, &expected,
                         &proxied, &proxy_user}) {
    all.push_back(only(Role::client, std::move(*option)));
  }
  return joined(std::move(all), loop_options());
}

Verify verify_of(const contract::Options& options) {
  const auto level = std::find(kVerify.begin(), kVerify.end(), options.at("verify").get<std::string>());
  return static_cast<Verify>(level - kVerify.begin());
}

Ask ask_of(const contract::Setup& setup) {
  const contract::Options& o = setup.options;
  Ask ask;
  ask.method = o.at("method").get<std::string>();
  ask.host = o.at("host").get<std::string>();
  ask.body = given_text(o, "body", kMostBody);
  ask.status = o.at("status").get<int>();
  ask.success = !o.at("paths").get<std::string>().empty() && ask.status == 200;
  ask.verify = verify_of(o);
  ask.expected = given_text(o, "expected", kMostExpected);
  ask.proxied = o.at("proxied").get<std::string>();
  const std::string user = given_text(o, "proxy_user", kMostHead);
  if (!user.empty() && ask.proxied.empty()) refuse("proxy_user", "it goes with option proxied alone");
  if (user.find(':') != std::string::npos) ask.proxy_authorization = "Basic " + base64(user);
  if (!is_host(ask.proxied)) {
    refuse("proxied", shown(ask.proxied, 80) + " is not a server, such as example.org:80");
  }
  if (!ask.method.empty() && !is_token(ask.method)) {
    refuse("method", shown(ask.method, 40) + " is not a method, such as GET or PUT");
  }
  if (!is_host(ask.host)) {
    refuse("host", shown(ask.host, 80) + " is not a host, such as example.org or example.org:8080");
  }
  add_headers(ask, given_text(o, "headers", kMostHead), "option headers");
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

/// What each class carries, as option bodies says; none without it.
std::vector<std::string> bodies_of(const contract::Setup& setup) {
  std::string text = given_text(setup.options, "bodies", kMostBodies);
  if (text.empty()) return {};
  if (text.back() != '\n') text += '\n';
  const std::vector<contract::Class>& classes = setup.load.classes;
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines != classes.size()) {
    refuse("bodies", "it has " + std::to_string(lines) + " lines and load.classes " +
                         std::to_string(classes.size()) + "; expected one for each");
  }
  std::vector<std::string> all;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string line = "line " + std::to_string(all.size() + 1);
    const auto body = from_base64(next_line(rest));
    if (!body) refuse("bodies", line + " is no base64");
    const contract::Class& of = classes[all.size()];
    if (!body->empty() && static_cast<std::int64_t>(body->size()) != of.up_bytes) {
      refuse("bodies", line + " has " + std::to_string(body->size()) + " bytes and class " + of.name + " " +
                           std::to_string(of.up_bytes) + " up; expected the same");
    }
    all.push_back(*body);
  }
  return all;
}

/// Whether what a request says of itself has a header of that name.
bool has_header(const Ask& ask, std::string_view name) {
  return std::any_of(ask.headers.begin(), ask.headers.end(),
                     [name](const auto& own) { return same_header(own.first, name); });
}

}  // namespace

std::vector<Ask> class_asks(const contract::Setup& setup) {
  const Ask common = ask_of(setup);
  const std::vector<std::string> bodies = bodies_of(setup);
  std::vector<Ask> all;
  for (const contract::Class& of : setup.load.classes) {
    Ask& ask = all.emplace_back(common);
    const auto wrong = [&of](const std::string& text) {
      throw Failure(ErrorKind::setup, "class " + of.name + ": " + text);
    };
    ask.success = of.status == 0 && common.status == 200;
    if (of.status != 0) ask.status = static_cast<int>(of.status);
    if (!of.method.empty()) ask.method = of.method;
    if (!ask.method.empty() && !is_token(ask.method))
      wrong(shown(ask.method, 40) + " is not a method, such as GET or PUT");
    if (ask.body.empty() && !bodies.empty()) ask.body = bodies[all.size() - 1];
    if (!of.path.empty()) ask.path = of.path;
    if (const std::string path = wrong_path(of.path); !of.path.empty() && !path.empty())
      wrong("path " + path);
    ask.headers.clear();
    for (const std::string& line : of.headers) add_headers(ask, line, "class " + of.name + ": headers");
    const Ask own = ask;
    for (const auto& header : common.headers) {
      if (!has_header(own, header.first)) ask.headers.push_back(header);
    }
  }
  return all;
}

std::vector<std::string> paths_of(const contract::Setup& setup) {
  auto name = setup.options.at("paths").get<std::string>();
  if (name.empty()) return {};
  if (name[0] == '@') name.erase(0, 1);  // the option names a file in any case
  if (const auto verify = setup.options.at("verify").get<std::string>();
      verify == "content" || verify == "length" || verify == "body") {
    refuse("paths", "replies to several paths differ; found verify=" + verify +
                        ", expected verify=status beside it, or a pattern or condition");
  }
  if (!setup.load.classes.empty()) refuse("paths", "found load.classes, which have paths of their own");
  const std::string text = read_file("option paths", name, kMostPaths);
  std::vector<std::string> all;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = next_line(rest);
    number++;
    if (line.empty() || line[0] == '#') continue;
    std::string wrong = wrong_path(line);
    if (all.size() == kMostTurns)
      wrong = "more than " + std::to_string(kMostTurns) + " paths, the most that are taken";
    if (!wrong.empty()) refuse("paths", name + ":" + std::to_string(number) + ": " + wrong);
    all.emplace_back(line);
  }
  if (all.empty()) refuse("paths", name + " holds no path, expected one a line, such as /index.html");
  return all;
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
