#include "kit/line.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace netdyno::contract {
namespace {

constexpr std::array kMessageNames = {"hello", "setup", "ready",  "start", "mark",
                                      "tick",  "stop",  "result", "error", "exit"};

/// The text with invalid UTF-8 replaced.
std::string readable(std::string_view text) {
  // Of a view, as every parse: of a string it would be another parser.
  return Json::parse(std::string_view(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)));
}

std::string excerpt(std::string_view line) {
  constexpr std::size_t kKeep = 120;
  const bool whole = line.size() <= kKeep;
  return Json(std::string(line.substr(0, kKeep)) + (whole ? "" : "…"))
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string explain(std::string_view line, const std::string& reason) {
  return "not a contract message: " + reason + "; the line was " + excerpt(line) +
         "; stdout carries JSON lines only, free text belongs on stderr (CONTRACT.md, section Lines)";
}

/// Deeper nesting than this is refused, as Go's decoder does.
constexpr int kMaxDepth = 10'000;

Json parse_json(std::string_view line) {
  const auto bound = [line](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxDepth) throw LineError(line, "nested more than " + std::to_string(kMaxDepth) + " deep");
    return true;
  };
  try {
    return Json::parse(line, bound);
  } catch (const Json::exception& error) {
    // Drop the library's prefix "[json.exception.parse_error.101] ".
    const std::string_view what = error.what();
    const auto end = what.find("] ");
    throw LineError(line, readable(end == what.npos ? what : what.substr(end + 2)));  // it quotes the line
  }
}

std::string hint(const Json& object) {
  if (object.size() != 1) return "";
  const std::vector<std::string> names(kMessageNames.begin(), kMessageNames.end());
  const std::string near = nearest(object.begin().key(), names);
  return "; \"" + object.begin().key() + "\" is not one" +
         (near.empty() ? "" : ", did you mean \"" + near + "\"?");
}

}  // namespace

LineError::LineError(std::string_view line, const std::string& reason)
    : std::runtime_error(explain(line, reason)), reason_(reason) {}

Message parse(std::string_view line) {
  const Json object = parse_json(line);
  if (!object.is_object()) {
    throw LineError(line, std::string("it is a JSON ") + object.type_name() + ", expected an object");
  }
  Message found;
  int keys = 0;
  for (const char* name : kMessageNames) {
    const auto entry = object.find(name);
    if (entry == object.end() || entry->is_null()) continue;
    if (!entry->is_object()) {
      throw LineError(line, std::string(name) + " is a JSON " + entry->type_name() + ", expected an object");
    }
    keys++;
    found = {name, *entry};
  }
  if (keys != 1) {
    throw LineError(line, "it has " + std::to_string(keys) +
                              " of the known message keys, expected exactly one" +
                              (keys == 0 ? hint(object) : ""));
  }
  return found;
}

bool LineReader::fill() {
  buffer_.erase(0, std::exchange(begin_, 0));
  constexpr std::size_t kChunk = 64 << 10;
  const std::size_t old = buffer_.size();
  buffer_.resize(old + kChunk);
  ssize_t got = 0;
  do {
    got = ::read(fd_, buffer_.data() + old, kChunk);
  } while (got < 0 && errno == EINTR);
  // Treat a read error as the end of stdin: no command can follow either way.
  buffer_.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got > 0;
}

std::optional<std::string> LineReader::read() {
  std::string skipped;  // the beginning of a line that is too long
  std::size_t searched = 0;
  for (;;) {
    const std::size_t newline = buffer_.find('\n', begin_ + searched);
    if (newline != std::string::npos) {
      std::string line = buffer_.substr(begin_, newline - begin_);
      begin_ = newline + 1;
      if (!skipped.empty() || line.size() >= kMaxLine) {
        throw LineError(skipped.empty() ? line : skipped,
                        "longer than " + std::to_string(kMaxLine) + " bytes");
      }
      return line;
    }
    searched = buffer_.size() - begin_;
    if (searched >= kMaxLine) {
      if (skipped.empty()) skipped = buffer_.substr(begin_, 256);
      begin_ = buffer_.size();
      searched = 0;
    }
    if (fill()) continue;
    if (buffer_.size() == begin_ && skipped.empty()) return std::nullopt;
    const std::string torn = skipped.empty() ? buffer_.substr(begin_) : skipped;
    begin_ = buffer_.size();
    throw LineError(torn, "the stream ended in the middle of a line");
  }
}

}  // namespace netdyno::contract
