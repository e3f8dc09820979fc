#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string_view>

#include "h2grpc/call.h"
#include "http1/terms.h"
#include "kit/histogram.h"
#include "kit/options.h"

namespace netdyno::h2grpc {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;
using contract::Role;
using http1::shown;

namespace {

constexpr std::string_view kService = "/netdyno.v1.Exchange/";
/// The default of option method, by which messages of a user's own travel.
constexpr char kOwn[] = "/netdyno.v1.Exchange/Own";
constexpr std::string_view kReflection = "/grpc.reflection.";
constexpr std::int64_t kMostGivenHead = 64 << 10;  // bytes of a user's headers, as a text
constexpr std::int64_t kMostGivenBody = 64 << 20;  // bytes of a user's message in base64
constexpr std::size_t kMostShown = 80;

/// text begins with the option's name.
[[noreturn]] void refuse(const std::string& text) { throw Failure(ErrorKind::setup, "option " + text); }

[[noreturn]] void contradicts(const std::string& text) { throw Failure(ErrorKind::unsupported, text); }

std::string method_of(const std::string& text) {
  const std::size_t middle = text.find('/', 1);
  const bool named = text[0] == '/' && middle != std::string::npos && middle > 1 && middle + 1 < text.size();
  if (!named || text.find('/', middle + 1) != std::string::npos ||
      text.find_first_of(" {}?#") != std::string::npos || !http1::is_value(text)) {
    refuse("method is " + shown(text, kMostShown) + ", expected /package.Service/Method such as " + kOwn);
  }
  if (text.starts_with(kReflection)) {
    refuse("method is " + shown(text, kMostShown) + ": the server's reflection has that service");
  }
  return text == kOwn ? "" : text;
}

/// Names that gRPC itself gives values; the library in Go leaves them out, too.
bool is_grpcs(std::string_view name) {
  constexpr std::array<std::string_view, 8> kOwnNames = {
      "content-type", "user-agent",  "grpc-message-type", "grpc-encoding",
      "grpc-message", "grpc-status", "grpc-timeout",      "te"};
  return std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end();
}

/// Whether the bytes are those that gRPC lets a name, or a value, of metadata have
/// (PROTOCOL-HTTP2.md, Custom-Metadata): the library in Go sends no others.
bool is_metadata(std::string_view name, std::string_view value) {
  constexpr std::string_view kName = "0123456789abcdefghijklmnopqrstuvwxyz-_.";
  return !name.empty() && name.find_first_not_of(kName) == std::string_view::npos &&
         std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Adds one line of option headers, which is not shown.
void add_header(Ask& ask, std::set<std::string>& names, const http1::HeaderLine& line) {
  std::string name(line.name);
  std::string value(line.value);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (!line.whole || !is_metadata(name, value)) {
    refuse("headers: found a line that is no metadata, expected Name: value");
  }
  if (name.ends_with("-bin")) {
    std::string padded = value;  // a user need not pad it
    while (padded.size() % 4 != 0) padded.push_back('=');
    if (!from_base64(padded)) {
      refuse("headers: " + shown(name, kMostShown) +
             " has a value that is no base64; a name that ends in -bin has a value in base64");
    }
    while (!value.empty() && value.back() == '=') value.pop_back();  // it travels without padding
  }
  names.insert(name);
  if (names.size() > http1::kMostHeaders) {
    refuse("headers: more than " + std::to_string(http1::kMostHeaders) + " names");
  }
  if (!is_grpcs(name)) ask.headers.emplace_back(std::move(name), std::move(value));
}

void check_body(const Ask& ask, const contract::Setup& setup) {
  if (!ask.body) return;
  const auto bytes = static_cast<std::int64_t>(ask.body->size());
  if (bytes == setup.exchange.up_bytes) return;
  refuse("body: the message has " + std::to_string(bytes) + " bytes and the factor request says " +
         std::to_string(setup.exchange.up_bytes) + "; expected the same");
}

}  // namespace

std::vector<Option> ask_options() {
  std::vector<Option> all = {
      text_option("method", kOwn,
                  "full name (/package.Service/Method) of the method that carries all messages, for a "
                  "server of your own; unless given, those of exchange.proto"),
      given_option("headers", "", kMostGivenHead,
                   "metadata of the calls, \"Name: value\", one a line; the value of a name that ends in "
                   "-bin is base64"),
      text_option("host", "", ":authority of the calls; the server's address unless given"),
      given_option("body", "", kMostGivenBody,
                   "with codec=raw: the request message, serialized and in base64, in place of random "
                   "content; as long as the factor request says"),
      choice_option("verify", {"content", "length", "status"},
                    "what is compared before ready: the content that our servers send, or only its "
                    "length, for a server of yours; status, with codec=raw: replies may have any length, "
                    "and what came is counted"),
  };
  for (Option& option : all) option = only(Role::client, std::move(option));
  return all;
}

bool Ask::of_netdyno() const { return method.empty() || method.starts_with(kService); }

Ask ask_of(const contract::Setup& setup) {
  const contract::Options& options = setup.options;
  const bool streamed = setup.exchange.stream != contract::Stream::none;
  Ask ask;
  ask.method = method_of(options.at("method").get<std::string>());
  if (!ask.method.empty() && streamed) {
    contradicts("option method is given and exchange.stream too: chunks travel by Up, Down and Both alone");
  }
  ask.host = options.at("host").get<std::string>();
  if (!http1::is_host(ask.host)) {
    refuse("host is " + shown(ask.host, kMostShown) +
           ", expected a host such as example.org or example.org:50051");
  }
  const auto headers = given_text(options, "headers", kMostGivenHead);
  std::set<std::string> names;
  for (const http1::HeaderLine& line : http1::header_lines(headers)) add_header(ask, names, line);
  ask.verify = http1::verify_of(options);
  auto body = given_text(options, "body", kMostGivenBody);
  if ((!body.empty() || ask.verify == Verify::status) && (options.at("codec") != "raw" || streamed)) {
    contradicts(
        "options body and verify=status need codec=raw and no exchange.stream: they are for whole messages "
        "as they are");
  }
  if (!body.empty()) {
    std::erase_if(body, [](char c) { return c == '\r' || c == '\n'; });  // of base64(1), and as in Go
    ask.body = from_base64(body);
    if (!ask.body) refuse("body is no base64");
  }
  check_body(ask, setup);
  return ask;
}

}  // namespace netdyno::h2grpc
