#include "mpi/pmi_line.h"

#include <charconv>

#include "kit/contract.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// The most that is kept of lines that nobody took yet, in bytes.
constexpr std::size_t kMaxWaiting = 64 << 10;

/// The value of put and of get's result comes last and takes the rest of the line: Open
/// MPI's end in blanks.
constexpr std::string_view kValue = "value=";

[[noreturn]] void wrong(const std::string& text) { throw Failure(ErrorKind::invalid, "speak PMI: " + text); }

}  // namespace

PmiLine PmiLine::parse(std::string_view text) {
  PmiLine line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.starts_with(kValue) ? text.npos : text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;  // words of a message to people
    line.words_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (line.words_.empty() || line.words_[0].first != "cmd") wrong("a line does not begin with cmd=");
  return line;
}

PmiLine& PmiLine::add(std::string_view key, std::string_view value) {
  words_.emplace_back(key, value);
  return *this;
}

std::optional<std::string_view> PmiLine::find(std::string_view key) const {
  for (const auto& [name, value] : words_) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::string_view PmiLine::at(std::string_view key) const {
  if (const auto value = find(key)) return *value;
  wrong("cmd=" + command() + " has no " + std::string(key) + "=");
}

int PmiLine::number(std::string_view key) const {
  const std::string_view text = at(key);
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) {
    wrong("cmd=" + command() + " has " + std::string(key) + "=" + std::string(text) + ", expected a number");
  }
  return number;
}

std::string PmiLine::text() const {
  std::string text;
  for (const auto& [key, value] : words_) text += (text.empty() ? "" : " ") + key + "=" + value;
  return text + "\n";
}

void PmiLines::add(std::span<const char> bytes) {
  buffer_.append(bytes.data(), bytes.size());
  const std::size_t last = buffer_.rfind('\n');
  const std::size_t begun = last == std::string::npos ? buffer_.size() : buffer_.size() - last - 1;
  if (begun >= kMaxPmiLine || buffer_.size() > kMaxWaiting) {
    wrong("a line is longer than " + std::to_string(kMaxPmiLine) + " bytes, or too many came at once");
  }
}

std::optional<std::string> PmiLines::next() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  if (end >= kMaxPmiLine)
    wrong("a line has " + std::to_string(end) + " bytes, expected less than " + std::to_string(kMaxPmiLine));
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

}  // namespace netdyno::mpi_worker
