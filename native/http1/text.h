// Texts as requests hold them and as errors show them.
//
// Layer: bottom of http1. Plain functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace netdyno::http1 {

/// The text without space at its ends.
std::string_view trimmed(std::string_view text);

/// Whether two names of headers are the same: their case does not count.
bool same_header(std::string_view a, std::string_view b);

/// Removes the next line from a text and returns it, trimmed.
std::string_view next_line(std::string_view& text);

/// Whether it may be the name of a header, or a method (RFC 9110, section 5.6.2).
bool is_token(std::string_view text);
/// Whether it may be the value of a header (RFC 9110, section 5.5).
bool is_value(std::string_view text);
/// Whether it may be the host, with or without a port, that a request is for.
bool is_host(std::string_view text);

/// The usual phrase of a status; empty for one that has none.
std::string_view phrase_of(int status);
/// A status with its usual phrase: "429 Too Many Requests". Without one where there is none.
std::string status_text(int status);

/// The text in quotes, cut off after most bytes, without bytes that would not print.
std::string shown(std::string_view text, std::size_t most);

}  // namespace netdyno::http1
