// Lines of the contract: bounded reading, parsing with errors that teach.
//
// Layer: above contract.h. The twin of internal/contract/line.go.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"

namespace netdyno::contract {

/// Bounds one line in bytes, its newline included; a longer one is skipped,
/// never stored whole.
inline constexpr std::size_t kMaxLine = 1 << 20;

/// A line that does not follow the contract. what() tells what was found, what
/// was expected and where CONTRACT.md says so.
class LineError : public std::runtime_error {
 public:
  LineError(std::string_view line, const std::string& reason);
  /// The finding alone, without the lesson.
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

  /// Blocks for the next line; empty at the end of the stream. Throws LineError
  /// for a line that is too long (it is skipped: reading may go on) or torn.
  std::optional<std::string> read();

 private:
  bool fill();

  int fd_;
  std::string buffer_;
  std::size_t begin_ = 0;
};

/// The candidate that is most like word, for "did you mean"; empty when none is
/// within half of word's length.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace netdyno::contract
