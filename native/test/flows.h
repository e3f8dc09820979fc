// Drives flows without sockets. Layer: test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kit/flow.h"
#include "kit/stream.h"

namespace netdyno::test {

/// Makes a flow receive bytes, as many at a time as fit. Throws std::runtime_error when it
/// takes no more.
inline void feed(Flow& flow, std::string_view bytes, std::int64_t now = 0) {
  while (!bytes.empty()) {
    const auto buffer = flow.read_buffer();
    if (buffer.empty()) throw std::runtime_error("the flow takes no more bytes");
    const std::size_t n = std::min(buffer.size(), bytes.size());
    std::memcpy(buffer.data(), bytes.data(), n);
    bytes.remove_prefix(n);
    flow.received(n, now);
  }
}

/// Returns all that a flow has to send.
inline std::string drain(Flow& flow, std::int64_t now = 0) {
  std::string bytes;
  while (flow.unsent()) {
    const auto out = flow.outgoing(now);
    bytes.append(out.data(), out.size());
    flow.written(out.size());
  }
  return bytes;
}

/// One whole message of wire stream.
inline std::string message(const StreamContent& content) {
  std::string all;
  while (static_cast<std::int64_t>(all.size()) < content.bytes()) {
    const auto next = content.from(static_cast<std::int64_t>(all.size()));
    all.append(next.data(), next.size());
  }
  return all;
}

}  // namespace netdyno::test
