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

/// The text in quotes, cut off after most bytes, without bytes that would not print.
std::string shown(std::string_view text, std::size_t most);

}  // namespace netdyno::http1
