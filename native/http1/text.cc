#include "http1/text.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace netdyno::http1 {

namespace {

constexpr std::pair<int, std::string_view> kPhrases[] = {{101, "Switching Protocols"},
                                                         {200, "OK"},
                                                         {201, "Created"},
                                                         {202, "Accepted"},
                                                         {204, "No Content"},
                                                         {206, "Partial Content"},
                                                         {301, "Moved Permanently"},
                                                         {302, "Found"},
                                                         {303, "See Other"},
                                                         {304, "Not Modified"},
                                                         {307, "Temporary Redirect"},
                                                         {308, "Permanent Redirect"},
                                                         {400, "Bad Request"},
                                                         {401, "Unauthorized"},
                                                         {403, "Forbidden"},
                                                         {404, "Not Found"},
                                                         {405, "Method Not Allowed"},
                                                         {406, "Not Acceptable"},
                                                         {408, "Request Timeout"},
                                                         {409, "Conflict"},
                                                         {410, "Gone"},
                                                         {411, "Length Required"},
                                                         {413, "Request Entity Too Large"},
                                                         {414, "Request URI Too Long"},
                                                         {415, "Unsupported Media Type"},
                                                         {421, "Misdirected Request"},
                                                         {422, "Unprocessable Entity"},
                                                         {425, "Too Early"},
                                                         {426, "Upgrade Required"},
                                                         {429, "Too Many Requests"},
                                                         {431, "Request Header Fields Too Large"},
                                                         {500, "Internal Server Error"},
                                                         {501, "Not Implemented"},
                                                         {502, "Bad Gateway"},
                                                         {503, "Service Unavailable"},
                                                         {504, "Gateway Timeout"},
                                                         {505, "HTTP Version Not Supported"}};

}  // namespace

std::string_view phrase_of(int status) {
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return {};
}

std::string status_text(int status) {
  const std::string_view phrase = phrase_of(status);
  return phrase.empty() ? "status " + std::to_string(status)
                        : std::to_string(status) + " " + std::string(phrase);
}

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

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool is_token(std::string_view text) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kMarks.find(c) != std::string_view::npos;
  });
}

bool is_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; });
}

bool is_host(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c >= 0x7f || c == '/'; });
}

std::string shown(std::string_view text, std::size_t most) {
  std::string begin(text.substr(0, most));
  for (char& c : begin) {
    if ((c >= 0 && c < ' ') || c == 0x7f) c = '?';
  }
  return '"' + begin + (text.size() > most ? "…\"" : "\"");
}

}  // namespace netdyno::http1
