// CRC-32C, by which contents are compared and recorded traffic is checked.
//
// Layer: bottom. Plain functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace netdyno {

/// CRC-32C (Castagnoli) of bytes, continued from an earlier checksum.
/// Source: RFC 3720, appendix B.4.
std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before = 0);
/// A checksum as errors print it: eight hexadecimal digits.
std::string crc_text(std::uint32_t crc);

}  // namespace netdyno
