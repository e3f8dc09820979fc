#include "http1/text.h"

#include <algorithm>
#include <cctype>

namespace netdyno::http1 {

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

std::string shown(std::string_view text, std::size_t most) {
  std::string begin(text.substr(0, most));
  for (char& c : begin) {
    if ((c >= 0 && c < ' ') || c == 0x7f) c = '?';
  }
  return '"' + begin + (text.size() > most ? "…\"" : "\"");
}

}  // namespace netdyno::http1
