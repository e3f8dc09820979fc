#include "http1/terms.h"

#include <algorithm>
#include <cctype>

#include "kit/address.h"
#include "kit/random.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Statuses with their usual phrases, a line each.
constexpr std::string_view kPhrases =
    "\n101 Switching Protocols\n200 OK\n201 Created\n202 Accepted\n204 No Content\n"
    "206 Partial Content\n301 Moved Permanently\n302 Found\n303 See Other\n304 Not Modified\n"
    "307 Temporary Redirect\n308 Permanent Redirect\n400 Bad Request\n401 Unauthorized\n"
    "403 Forbidden\n404 Not Found\n405 Method Not Allowed\n406 Not Acceptable\n"
    "408 Request Timeout\n409 Conflict\n410 Gone\n411 Length Required\n"
    "413 Request Entity Too Large\n414 Request URI Too Long\n415 Unsupported Media Type\n"
    "421 Misdirected Request\n422 Unprocessable Entity\n425 Too Early\n426 Upgrade Required\n"
    "429 Too Many Requests\n431 Request Header Fields Too Large\n500 Internal Server Error\n"
    "501 Not Implemented\n502 Bad Gateway\n503 Service Unavailable\n504 Gateway Timeout\n"
    "505 HTTP Version Not Supported\n";

}  // namespace

std::string_view phrase_of(int status) {
  const std::string line = "\n" + std::to_string(status) + " ";
  const std::size_t at = kPhrases.find(line);
  if (at == std::string_view::npos) return {};
  const std::string_view phrase = kPhrases.substr(at + line.size());
  return phrase.substr(0, phrase.find('\n'));
}

std::string status_text(int status) {
  const std::string_view phrase = phrase_of(status);
  return phrase.empty() ? "status " + std::to_string(status)
                        : std::to_string(status) + " " + std::string(phrase);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\v\f";
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

bool same_header(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::vector<HeaderLine> header_lines(std::string_view text) {
  std::vector<HeaderLine> all;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.empty()) continue;
    const std::size_t colon = line.find(':');
    const bool whole = colon != std::string_view::npos;
    all.push_back({trimmed(line.substr(0, colon)), whole ? trimmed(line.substr(colon + 1)) : "", whole});
  }
  return all;
}

bool is_token(std::string_view text) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kMarks.find(c) != std::string_view::npos;
  });
}

bool is_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; });
}

bool is_host(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c >= 0x7f || c == '/'; });
}

std::string shown(std::string_view text, std::size_t most) {
  std::string begin(text.substr(0, most));
  for (char& c : begin) {
    if ((c >= 0 && c < ' ') || c == 0x7f) c = '?';
  }
  return '"' + begin + (text.size() > most ? "…\"" : "\"");
}

namespace {

bool is_one_of(std::string_view method, std::initializer_list<std::string_view> methods) {
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

/// A status with the phrase that came beside it, or its usual one.
std::string named(int status, const std::string& phrase) {
  const std::string number = std::to_string(status);
  const std::string_view said = phrase.empty() ? phrase_of(status) : phrase;
  return said.empty() ? number : number + " " + std::string(said);
}

}  // namespace

void check_sizes(const contract::Setup& setup) {
  for (const auto& [name, bytes] : {std::pair{"up_bytes", setup.exchange.up_bytes},
                                    {"down_bytes", setup.exchange.down_bytes},
                                    {"chunk_bytes", setup.exchange.chunk_bytes}}) {
    if (bytes >= 0 && bytes <= contract::kMaxFlowMessage) continue;
    throw Failure(ErrorKind::setup, "exchange." + std::string(name) + " is " + std::to_string(bytes) +
                                        ", expected 0 to " + std::to_string(contract::kMaxFlowMessage));
  }
}

std::string content_of(std::int64_t bytes, char direction) {
  return random_content(static_cast<std::size_t>(bytes), direction);
}

std::size_t read_size_for(std::int64_t reply, std::size_t in_flight, bool any) {
  constexpr std::size_t kMin = 4 << 10;
  constexpr std::size_t kMax = 128 << 10;
  if (any || reply > static_cast<std::int64_t>(kMax)) return kMax;
  return std::clamp(static_cast<std::size_t>(reply) * in_flight, kMin, kMax);
}

std::vector<Terms> Terms::each(const contract::Setup& setup) {
  std::vector<Terms> all;
  for (Ask& ask : class_asks(setup)) {
    const contract::Class& of = setup.load.classes[all.size()];
    contract::Exchange sizes = setup.exchange;
    sizes.up_bytes = of.up_bytes;
    sizes.down_bytes = ask.method == "HEAD" ? 0 : of.down_bytes;
    all.push_back(Terms(setup, std::move(ask), sizes));
  }
  return all;
}

Terms::Terms(const contract::Setup& setup, Ask ask, const contract::Exchange& sizes)
    : ask_(std::move(ask)), bodies_(bodies_of(ask_)), down_bytes_(sizes.down_bytes) {
  check_sizes(setup);
  content_ = ask_.body.empty() ? content_of(sizes.up_bytes, 'u') : ask_.body;
  const bool content = !content_.empty();
  if (ask_.method.empty()) ask_.method = content ? "POST" : "GET";
  repeatable_ = is_one_of(ask_.method, {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"});
  sized_ = content || is_one_of(ask_.method, {"POST", "PUT", "PATCH"});
  std::vector<std::pair<std::string, std::string>> headers = {{"User-Agent", "netdyno"}};
  if (sizes.tells_down) headers.emplace_back("netdyno-down", std::to_string(down_bytes_));
  if (content) headers.emplace_back("Content-Type", "application/octet-stream");
  if (!ask_.proxied.empty() && !setup.tls) {  // the proxy reads the request (RFC 9112, section 3.2.2)
    origin_ = "http://" + (ask_.host.empty() ? ask_.proxied : ask_.host);
    if (!ask_.proxy_authorization.empty())
      headers.emplace_back("Proxy-Authorization", ask_.proxy_authorization);
  }
  std::erase_if(headers, [this](const auto& own) {  // the user's take the place of ours
    return std::any_of(ask_.headers.begin(), ask_.headers.end(),
                       [&own](const auto& given) { return same_header(own.first, given.first); });
  });
  ask_.headers.insert(ask_.headers.begin(), headers.begin(), headers.end());
}

std::vector<std::string> Terms::hosts(const contract::Setup& setup) const {
  std::vector<std::string> all;
  for (const Route& route : routes(setup))
    all.push_back(!ask_.host.empty()     ? ask_.host
                  : ask_.proxied.empty() ? route.peer.authority()
                                         : ask_.proxied);
  return all;
}

std::string Terms::explain(const Reply& reply, const std::string& phrase, std::string_view begin) const {
  if (!takes_status(reply.status)) {
    const std::string_view line = begin.substr(0, begin.find('\n'));
    return "the reply has status " + named(reply.status, phrase) +
           (line.empty() ? "" : " (" + shown(line, kMostReason) + ")") + ", expected " +
           (ask_.success ? "2xx" : named(ask_.status, ""));
  }
  if (reply.bytes > most_body()) {
    return "the reply has more than the expected " + std::to_string(down_bytes_) + " bytes";
  }
  if (bodies_ != nullptr) return bodies_->explain(reply.body);
  return "the reply has " + std::to_string(reply.bytes) + " bytes, expected " + std::to_string(down_bytes_);
}

std::string Terms::reason(const Reply& reply) const {
  if (!takes_status(reply.status)) return status_text(reply.status);
  return bodies_ != nullptr && reply.bytes <= most_body() ? bodies_->reason() : explain(reply, "", "");
}

void Terms::refuse(const Reply& reply, const std::string& phrase, std::string_view begin,
                   const std::string& asked) const {
  constexpr int kTooManyRequests = 429;
  constexpr int kUnavailable = 503;
  const std::string why = (asked.empty() ? "" : asked + ": ") + explain(reply, phrase, begin);
  const bool busy = reply.status == kTooManyRequests || reply.status == kUnavailable;
  if (busy && repeatable_ && !takes_status(reply.status)) throw Deferred(ErrorKind::invalid, why);
  throw Failure(ErrorKind::invalid, why);
}

void Terms::require_content(bool same) const {
  if (same || ask_.verify != Verify::content) return;
  throw Failure(
      ErrorKind::invalid,
      "the reply has other content than our servers send (a server that is not netdyno's sends other "
      "content: drive it with opt.verify=length)");
}

Work::Repeats Terms::repeats() const {
  if (ask_.verify == Verify::content) return Work::Repeats::none;
  return repeatable_ ? Work::Repeats::lost : Work::Repeats::refused;
}

std::string Terms::expected_content() const {
  return ask_.verify == Verify::content ? content_of(down_bytes_, 'd') : "";
}

std::int64_t Terms::most_body() const { return any() ? contract::kMaxFlowMessage : down_bytes_ + kWrongRead; }

}  // namespace netdyno::http1
