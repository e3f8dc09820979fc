// CRC-32C, by which the vectors say what contents are. Layer: test.
#pragma once

#include <cstdint>
#include <string_view>

namespace netdyno::test {

/// Source: RFC 3720, appendix B.4.
inline std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~crc;
}

}  // namespace netdyno::test
