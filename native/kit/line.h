// Lines of the contract: bounded reading, and parsing with errors that help.
//
// Layer: above json.h. Go counterpart: internal/contract/line.go.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kit/json.h"

namespace netdyno::contract {

/// The longest line in bytes, with its newline. A longer one is skipped and never
/// stored as a whole.
inline constexpr std::size_t kMaxLine = 1 << 20;

/// A line that does not follow the contract. what() says what was found, what was
/// expected and which section of CONTRACT.md applies.
class LineError : public std::runtime_error {
 public:
  LineError(std::string_view line, const std::string& reason);
  /// What was found, without the rest of what().
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// One parsed line: the message's key and its body, a JSON object.
struct Message {
  std::string name;
  Json body;
};

/// Parses one line, with or without its newline. Throws LineError unless it is
/// an object with exactly one known message key.
Message parse(std::string_view line);

/// Reads lines from a descriptor that it does not own. One thread may use it.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  /// Waits for the next line. Returns nothing at the end of the stream. Throws
  /// LineError for a line that is too long (it is skipped; reading can continue) or
  /// that the end of the stream cut off.
  std::optional<std::string> read();

 private:
  bool fill();

  int fd_;
  std::string buffer_;
  std::size_t begin_ = 0;
};

}  // namespace netdyno::contract
