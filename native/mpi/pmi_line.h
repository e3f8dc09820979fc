// A line of PMI-1's wire protocol, in which an MPI library asks the program that
// started it who it is and how to reach the other ranks: words key=value with a blank
// between them, the first of which is cmd=NAME. A word value=… is the last one, and may
// have blanks in it.
//
// Layer: bottom. Plain values. Source: MPICH, src/pmi/simple/simple_pmi.c, and its
// process manager hydra, which answers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace netdyno::mpi_worker {

/// The longest line, with its end, in bytes: the buffer that MPICH reads into.
constexpr std::size_t kMaxPmiLine = 1024;
/// The longest key and value that a rank may put: with them, a line still fits.
constexpr std::size_t kMaxPmiKey = 64;
constexpr std::size_t kMaxPmiValue = 800;

class PmiLine {
 public:
  /// Parses a line without its end. Throws Failure{invalid} for one that does not begin
  /// with cmd=.
  static PmiLine parse(std::string_view text);

  explicit PmiLine(std::string_view command) { add("cmd", command); }
  PmiLine& add(std::string_view key, std::string_view value);
  PmiLine& add(std::string_view key, int value) { return add(key, std::to_string(value)); }

  const std::string& command() const { return words_[0].second; }
  /// The value of a key; nothing when the line has no such key.
  std::optional<std::string_view> find(std::string_view key) const;
  /// The value of a key. Throws Failure{invalid} when the line has no such key.
  std::string_view at(std::string_view key) const;
  /// The same as a number. Throws Failure{invalid} for any other text.
  int number(std::string_view key) const;

  /// The line as it is sent, with its end.
  std::string text() const;

 private:
  PmiLine() = default;
  std::vector<std::pair<std::string, std::string>> words_;
};

/// Cuts what arrives into lines, in bounded memory.
class PmiLines {
 public:
  /// Takes bytes as they arrive. Throws Failure{invalid} for a line that is too long.
  void add(std::span<const char> bytes);
  /// The next whole line without its end; nothing when there is none yet.
  std::optional<std::string> next();

 private:
  std::string buffer_;
};

}  // namespace netdyno::mpi_worker
