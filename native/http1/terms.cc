#include "http1/terms.h"

#include "http1/text.h"
#include "kit/random_content.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

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

std::size_t read_size_for(std::int64_t reply, std::size_t in_flight, bool any) {
  constexpr std::size_t kMin = 4 << 10;
  constexpr std::size_t kMax = 128 << 10;
  if (any || reply > static_cast<std::int64_t>(kMax)) return kMax;
  return std::clamp(static_cast<std::size_t>(reply) * in_flight, kMin, kMax);
}

Terms::Terms(const contract::Setup& setup) : ask_(ask_of(setup)), down_bytes_(setup.exchange.down_bytes) {
  check_sizes(setup);
  content_ = ask_.body.empty() ? content_of(setup.exchange.up_bytes, 'u') : ask_.body;
  method_ = !ask_.method.empty() ? ask_.method : content_.empty() ? "GET" : "POST";
  repeatable_ = is_one_of(method_, {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"});
  headers_ = {{"User-Agent", "netdyno"}};
  if (!content_.empty()) headers_.emplace_back("Content-Type", "application/octet-stream");
  std::erase_if(headers_, [this](const auto& own) {  // the user's take the place of ours
    return std::any_of(ask_.headers.begin(), ask_.headers.end(),
                       [&own](const auto& given) { return same_header(own.first, given.first); });
  });
  headers_.insert(headers_.end(), ask_.headers.begin(), ask_.headers.end());
}

bool Terms::sized() const { return !content_.empty() || is_one_of(method_, {"POST", "PUT", "PATCH"}); }

std::string Terms::explain(const Reply& reply, const std::string& phrase, std::string_view begin) const {
  if (!ask_.takes(reply.status)) {
    const std::string_view line = begin.substr(0, begin.find('\n'));
    return "the reply has status " + named(reply.status, phrase) +
           (line.empty() ? "" : " (" + shown(line, kMostReason) + ")") + ", expected " +
           (ask_.success ? "2xx" : named(ask_.status, ""));
  }
  if (reply.bytes > most_body()) {
    return "the reply has more than the expected " + std::to_string(down_bytes_) + " bytes";
  }
  return "the reply has " + std::to_string(reply.bytes) + " bytes, expected " + std::to_string(down_bytes_);
}

std::string Terms::reason(const Reply& reply) const {
  return ask_.takes(reply.status) ? explain(reply, "", "") : status_text(reply.status);
}

void Terms::refuse(const Reply& reply, const std::string& phrase, std::string_view begin) const {
  constexpr int kTooManyRequests = 429;
  constexpr int kUnavailable = 503;
  const std::string why = explain(reply, phrase, begin);
  const bool busy = reply.status == kTooManyRequests || reply.status == kUnavailable;
  if (busy && repeatable_ && !ask_.takes(reply.status)) throw Deferred(ErrorKind::invalid, why);
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
