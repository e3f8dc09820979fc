#include "kit/crc.h"

#include <array>
#include <cstdio>

namespace netdyno {

namespace {

/// Tables for eight bytes at a time. Source: M. Kounavis, F. Berry, "A systematic
/// approach to building high performance software-based CRC generators", 2005.
struct Tables {
  std::uint32_t slice[8][256];  // built in: std::array makes builds without optimization crawl
};

constexpr Tables kTables = [] {
  Tables t{};
  for (std::uint32_t i = 0; i < 256; i++) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    t.slice[0][i] = crc;
  }
  for (std::size_t slice = 1; slice < 8; slice++) {
    for (std::size_t i = 0; i < 256; i++) {
      const std::uint32_t before = t.slice[slice - 1][i];
      t.slice[slice][i] = before >> 8 ^ t.slice[0][before & 0xff];
    }
  }
  return t;
}();

}  // namespace

std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before) {
  const auto& t = kTables.slice;
  const auto* next = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  std::uint32_t crc = ~before;
  for (; left >= 8; left -= 8, next += 8) {
    crc ^= std::uint32_t{next[0]} | std::uint32_t{next[1]} << 8 | std::uint32_t{next[2]} << 16 |
           std::uint32_t{next[3]} << 24;
    crc = t[7][crc & 0xff] ^ t[6][crc >> 8 & 0xff] ^ t[5][crc >> 16 & 0xff] ^ t[4][crc >> 24] ^
          t[3][next[4]] ^ t[2][next[5]] ^ t[1][next[6]] ^ t[0][next[7]];
  }
  for (; left > 0; left--, next++) crc = crc >> 8 ^ t[0][(crc ^ *next) & 0xff];
  return ~crc;
}

std::string crc_text(std::uint32_t crc) {
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", crc);
  return text.data();
}

}  // namespace netdyno
