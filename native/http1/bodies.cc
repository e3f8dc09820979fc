#include "http1/bodies.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "http1/terms.h"
#include "tls/work.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;
using Json = nlohmann::json;

namespace {

constexpr std::size_t kMostQuoted = 80;  // characters

std::string of_bytes(std::string_view body) {
  return "the body of " + std::to_string(body.size()) + " bytes ";
}

/// The first body that was taken. Most replies have the same, and to compare bytes takes less time
/// than to read them. Any thread may use it.
class Taken {
 public:
  bool any() const { return there_.load(std::memory_order_acquire); }
  bool is(std::string_view body) const { return any() && body == body_; }
  void keep(std::string_view body) {
    const std::lock_guard lock(mutex_);
    if (any()) return;
    body_ = body;
    there_.store(true, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> there_ = false;
  std::string body_;  // immutable once it is there
};

/// All bodies are the same: by a digest until one had it, then by its bytes.
class Same final : public Bodies {
 public:
  /// digits are the SHA-256 in hexadecimal; empty for that of the first body.
  explicit Same(const std::string& digits) {
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      unsigned char byte = 0;
      const char* const end = digits.data() + i + 2;
      if (std::from_chars(end - 2, end, byte, 16).ptr != end) break;
      digest_ += static_cast<char>(byte);
    }
    if (tls::sha256("").empty() && !digits.empty())
      throw Failure(ErrorKind::unsupported,
                    "option expected: this client was built without OpenSSL, for SHA-256");
    if (digits.empty() || (digits.size() == 2 * kDigest && digest_.size() == kDigest)) return;
    throw Failure(ErrorKind::setup, "option expected: " + shown(digits, kMostQuoted) +
                                        " is no SHA-256; expected 64 hexadecimal digits");
  }

  bool takes(std::string_view body) const override {
    if (!taken_.any() && (digest_.empty() || tls::sha256(body) == digest_)) taken_.keep(body);
    return taken_.is(body);
  }
  std::string explain(std::string_view body) const override {
    return of_bytes(body) + "differs from the first reply's";
  }
  std::string reason() const override { return "body differs"; }

 private:
  static constexpr std::size_t kDigest = 32;

  std::string digest_;
  mutable Taken taken_;
};

/// Whether two values of JSON are the same. Numbers are compared as IEEE 754 doubles.
bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() == b.get<double>();
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), same);
  if (!a.is_object()) return a == b;
  for (const auto& [name, value] : a.items()) {
    const auto other = b.find(name);
    if (other == b.end() || !same(value, *other)) return false;
  }
  return true;
}

/// A singular query of JSONPath (RFC 9535, section 2.3.5.1), alone or with == or != and a value.
class Condition final : public Bodies {
 public:
  explicit Condition(std::string_view text) : text_(trimmed(text)), rest_(text_) {
    if (!take("$")) refuse();
    while (segment()) {
    }
    if (rest_.empty()) return;
    equal_ = take("==");
    if (!*equal_ && !take("!=")) refuse();
    value_ = parsed(rest_);
    if (value_.is_discarded()) refuse();
  }

  bool takes(std::string_view body) const override {
    if (taken_.is(body)) return true;
    if (!holds(body)) return false;
    taken_.keep(body);
    return true;
  }
  std::string explain(std::string_view body) const override {
    if (body.size() > kMost)
      return of_bytes(body) + "is not read as JSON; at most " + std::to_string(kMost) + " are";
    const Json document = parsed(body);
    if (document.is_discarded()) return of_bytes(body) + "is no JSON";
    const Json* const found = select(document);
    const std::string is = found != nullptr ? found->dump() : equal_ ? "null" : "not there";
    return of_bytes(body) + "does not have " + beginning(text_, kMostQuoted) + ": it is " +
           beginning(is, kMostQuoted);
  }
  std::string reason() const override { return "not " + beginning(text_, kMostQuoted); }

 private:
  using Step = std::variant<std::string, std::int64_t>;  // a name, or a position, from the end where negative

  static constexpr std::size_t kMost = 16 << 20;  // bytes of a body

  [[noreturn]] void refuse() const {
    throw Failure(
        ErrorKind::unsupported,
        "option expected: " + shown(text_, kMostQuoted) + " is more than this client reads at position " +
            std::to_string(text_.size() - rest_.size() + 1) +
            "; expected names and positions such as $.data.items[0] or $['a b'], alone or with == or "
            "!= and a JSON value, such as $.errors == null; the Go clients read all of RFC 9535");
  }

  bool holds(std::string_view body) const {
    const Json document = body.size() > kMost ? Json(Json::value_t::discarded) : parsed(body);
    if (document.is_discarded()) return false;
    const Json* const found = select(document);
    if (!equal_) return found != nullptr;
    return same(found == nullptr ? Json() : *found, value_) == *equal_;
  }

  /// Takes a text, and the space after it.
  bool take(std::string_view what) {
    if (!rest_.starts_with(what)) return false;
    rest_ = trimmed(rest_.substr(what.size()));
    return true;
  }

  /// Takes the next step of the path.
  bool segment() {
    if (take(".")) {
      const auto* const end = std::find_if(rest_.begin(), rest_.end(), [](char c) {
        return c >= 0 && c != '_' && std::isalnum(static_cast<unsigned char>(c)) == 0;
      });
      const std::string name(rest_.begin(), end);
      if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) refuse();
      steps_.emplace_back(name);
      return take(name);
    }
    if (!take("[")) return false;
    if (rest_.starts_with('\'') || rest_.starts_with('"')) {
      quoted();
    } else {
      std::int64_t at = 0;
      const auto [end, wrong] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), at);
      if (wrong != std::errc()) refuse();
      steps_.emplace_back(at);
      take(rest_.substr(0, static_cast<std::size_t>(end - rest_.data())));
    }
    if (!take("]")) refuse();
    return true;
  }

  /// Takes a name in quotes of either kind, whose escapes are JSON's and \'.
  void quoted() {
    const char quote = rest_[0];
    std::string text = "\"";
    std::size_t i = 1;
    for (; i < rest_.size() && rest_[i] != quote; i++) {
      if (rest_[i] == '"') text += '\\';
      if (rest_[i] == '\\' && ++i < rest_.size() && rest_[i] != '\'') text += '\\';
      if (i < rest_.size()) text += rest_[i];
    }
    const Json name = Json::parse(text + '"', nullptr, false);
    if (i >= rest_.size() || !name.is_string()) refuse();
    steps_.emplace_back(name.get<std::string>());
    take(rest_.substr(0, i + 1));
  }

  /// What the path leads to; nullptr for nothing.
  const Json* select(const Json& document) const {
    const Json* at = &document;
    for (const Step& step : steps_) {
      if (const auto* const name = std::get_if<std::string>(&step)) {
        const auto member = at->find(*name);
        if (member == at->end()) return nullptr;
        at = &*member;
        continue;
      }
      auto place = std::get<std::int64_t>(step);
      if (!at->is_array()) return nullptr;
      const auto size = static_cast<std::int64_t>(at->size());
      if (place < 0) place += size;
      if (place < 0 || place >= size) return nullptr;
      at = &(*at)[static_cast<std::size_t>(place)];
    }
    return at;
  }

  std::string text_;
  std::string_view rest_;  // what is not read yet
  std::vector<Step> steps_;
  std::optional<bool> equal_;  // to the value, or not; neither where a member must be there
  Json value_;
  mutable Taken taken_;
};

}  // namespace

Json parsed(std::string_view text) {
  constexpr int kDeepest = 10'000;
  bool deep = false;
  const auto bound = [&deep](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > kDeepest;
    return !deep;
  };
  Json document = Json::parse(text, bound, false);
  return deep ? Json(Json::value_t::discarded) : document;
}

std::string beginning(std::string_view text, std::size_t most) {
  std::size_t at = 0;
  for (std::size_t characters = 0; at < text.size(); at++) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;  // of UTF-8
    if (begins && ++characters > most) return std::string(text.substr(0, at)) + "…";
  }
  return std::string(text);
}

std::string as_json(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::unique_ptr<const Bodies> bodies_of(const Ask& ask) {
  if (ask.verify == Verify::body) return std::make_unique<Same>(ask.expected);
  const bool expects = ask.verify > Verify::body;
  if (expects == ask.expected.empty()) {
    throw Failure(ErrorKind::setup,
                  expects ? "option expected has 0 bytes; expected a pattern or a condition"
                          : "option expected: this level of option verify has nothing to be expected");
  }
  if (!expects) return nullptr;
  if (ask.verify == Verify::json) return std::make_unique<Condition>(ask.expected);
  auto bodies = matching(ask.expected, ask.verify == Verify::not_regexp);
  if (bodies == nullptr)
    throw Failure(ErrorKind::unsupported, "option verify: this client was built without RE2, for patterns");
  return bodies;
}

}  // namespace netdyno::http1
