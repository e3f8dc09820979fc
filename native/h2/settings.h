// What an end of HTTP/2 tells its peer when a connection begins (RFC 9113, section 6.5.2).
//
// Layer: bottom of h2. Plain values; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kit/contract.h"

namespace netdyno::h2 {

/// The options of go-http2 of the same names, with this library's defaults.
std::vector<contract::Option> setting_options();

struct Settings {
  std::uint32_t max_frame = 0;
  std::int32_t connection_window = 0;
  std::int32_t stream_window = 0;
  std::uint32_t max_streams = 0;  // of a server

  /// options are complete.
  static Settings of(const contract::Setup& setup);
};

}  // namespace netdyno::h2
