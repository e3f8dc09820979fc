#include "http1/verification.h"

#include <algorithm>

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::size_t kReadSize = 64 << 10;

/// Adds what still fits of a part, without bytes that would not print.
void add(std::string& to, std::string_view part) {
  for (const char c : part.substr(0, kMostReason - std::min(kMostReason, to.size()))) {
    to += c < ' ' && c != '\n' ? '?' : c;
  }
}

}  // namespace

FirstReply::FirstReply(const Asking& asking, std::string_view content)
    : ReplyReader(asking.terms().most_body(), asking.to_head()), content_(content) {}

void FirstReply::on_status(std::string_view part) { add(phrase_, part); }

void FirstReply::on_body(std::string_view part) {
  add(begin_, part);
  if (!content_.empty()) {
    const std::string_view expected = content_.substr(std::min(seen_, content_.size()), part.size());
    differs_ = differs_ || expected != part;
  }
  seen_ += part.size();
}

/// What explains a reply before the one that counts does not explain that.
bool FirstReply::on_end() {
  if (ReplyReader::on_end()) return true;
  phrase_.clear();
  return false;
}

Verification::Verification(const Asking& asking, std::string_view content, std::int64_t connection)
    : asking_(asking), connection_(connection), reply_(asking, content) {}

void Verification::begin(std::int64_t) { buffer_ = std::make_unique_for_overwrite<char[]>(kReadSize); }

std::span<char> Verification::read_buffer() {
  return verified_ ? std::span<char>() : std::span<char>(buffer_.get(), kReadSize);
}

void Verification::received(std::size_t n, std::int64_t) {
  const bool first = arrived_ == 0;
  arrived_ += static_cast<std::int64_t>(n);
  switch (reply_.read({buffer_.get(), n})) {
    case Reader::Outcome::more:
      return;
    case Reader::Outcome::complete:
      if (!reply_.keeps() || reply_.taken() < n || unsent() || asking_.fresh()) fate_ = Fate::over;
      return judge();
    case Reader::Outcome::endless:
      asking_.terms().refuse({reply_.status(), asking_.terms().most_body() + 1}, reply_.phrase(),
                             reply_.beginning());
    case Reader::Outcome::headless:
      throw Failure(ErrorKind::invalid, Reader::headless());
    case Reader::Outcome::malformed:
      break;
  }
  constexpr char kAlert = 0x15;  // of TLS, to a client that speaks plain text
  if (first && n > 1 && buffer_[0] == kAlert && buffer_[1] == 3) {
    throw Failure(ErrorKind::setup, "the server speaks TLS and this client plain text");
  }
  throw Failure(ErrorKind::invalid, "malformed HTTP: " + reply_.problem());
}

void Verification::judge() {
  const Reply reply{reply_.status(), reply_.body()};
  if (!asking_.terms().takes(reply)) asking_.terms().refuse(reply, reply_.phrase(), reply_.beginning());
  asking_.terms().require_content(!reply_.differs());
  verified_ = true;
}

bool Verification::ended(std::int64_t) {
  if (arrived_ == 0) return false;
  if (reply_.finish() != Reader::Outcome::complete) {
    throw Failure(ErrorKind::peer, "read the reply: the connection was closed after " +
                                       std::to_string(reply_.body()) + " of " +
                                       std::to_string(asking_.terms().down_bytes()) + " bytes");
  }
  fate_ = Fate::over;
  judge();
  return true;
}

}  // namespace netdyno::http1
