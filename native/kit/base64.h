// Bytes as text (RFC 4648, section 4).
// Layer: bottom. Plain functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace netdyno {

std::string base64(std::string_view bytes);

/// The bytes of a padded text; none where it is no base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace netdyno
