#include "http1/paths.h"

#include <array>
#include <cctype>
#include <cstdio>

#include "http1/text.h"
#include "kit/contract.h"
#include "kit/files.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

namespace {

// Bounds of a list, as internal/paths has them.
constexpr std::size_t kMost = 100'000;
constexpr std::size_t kLongest = 8 << 10;     // of one path: servers refuse more
constexpr std::size_t kMostBytes = 16 << 20;  // of the whole text

constexpr std::size_t kMostShown = 80;
constexpr std::string_view kExample = "such as /index.html?page=2";

[[noreturn]] void refuse(const std::string& text) {
  throw Failure(ErrorKind::setup, "option paths: " + text);
}

std::string hexadecimal(unsigned char byte) {
  std::array<char, 4> text{};
  std::snprintf(text.data(), text.size(), "%02X", byte);
  return text.data();
}

bool is_escape(std::string_view path, std::size_t percent) {
  return percent + 2 < path.size() && std::isxdigit(static_cast<unsigned char>(path[percent + 1])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(path[percent + 2])) != 0;
}

}  // namespace

std::string wrong_path(std::string_view path) {
  if (path.size() > kLongest) {
    return "a path of " + std::to_string(path.size()) + " bytes, expected at most " +
           std::to_string(kLongest);
  }
  const std::string example = std::string(kExample);
  if (path.find("://") != std::string_view::npos && path[0] != '/') {
    return shown(path, kMostShown) + " is a URL; expected a path alone, " + example;
  }
  if (path.empty() || path[0] != '/' || path.substr(0, 2) == "//") {
    return shown(path, kMostShown) + " is not a path; expected one that begins with one slash, " + example;
  }
  for (std::size_t i = 0; i < path.size(); i++) {
    const auto byte = static_cast<unsigned char>(path[i]);
    if (byte <= ' ' || byte >= 0x7f || byte == '#') {
      return shown(path, kMostShown) + " holds a byte that no request line can; write it as %" +
             hexadecimal(byte);
    }
    if (byte == '%' && !is_escape(path, i)) {
      return shown(path, kMostShown) + " is not a path: it has a % without two hexadecimal digits after it";
    }
  }
  return {};
}

std::vector<std::string> parse_paths(const std::string& name, std::string_view text) {
  std::vector<std::string> all;
  for (std::size_t number = 1; !text.empty(); number++) {
    const std::string_view path = next_line(text);
    if (path.empty() || path[0] == '#') continue;
    const std::string at = name + ":" + std::to_string(number) + ": ";
    if (const std::string wrong = wrong_path(path); !wrong.empty()) refuse(at + wrong);
    if (all.size() == kMost)
      refuse(at + "more than " + std::to_string(kMost) + " paths, the most that are taken");
    all.emplace_back(path);
  }
  if (all.empty()) refuse(name + " holds no path, expected one a line, such as /index.html");
  return all;
}

std::vector<std::string> read_paths(const std::string& name) {
  return parse_paths(name, read_file("option paths", name, kMostBytes));
}

}  // namespace netdyno::http1
