#include "kit/random.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace netdyno {

namespace {

constexpr std::size_t kWords = 16;     // of a ChaCha block
constexpr std::size_t kSide = 4;       // blocks that are interlaced
constexpr std::uint32_t kBlocks = 16;  // of one key
constexpr std::size_t kOutput = kBlocks * kWords * sizeof(std::uint32_t);
constexpr std::size_t kKey = 32;

using Block = std::array<std::uint32_t, kWords>;

void quarter(Block& b, std::size_t a, std::size_t i, std::size_t j, std::size_t k) {
  b[a] += b[i];
  b[k] = std::rotl(b[k] ^ b[a], 16);
  b[j] += b[k];
  b[i] = std::rotl(b[i] ^ b[j], 12);
  b[a] += b[i];
  b[k] = std::rotl(b[k] ^ b[a], 8);
  b[j] += b[k];
  b[i] = std::rotl(b[i] ^ b[j], 7);
}

/// One block of eight rounds. Only the key's words are added to the result: the
/// others carry no entropy.
Block block(const std::array<std::uint32_t, 8>& key, std::uint32_t counter) {
  Block b = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  std::copy(key.begin(), key.end(), b.begin() + 4);
  b[12] = counter;
  for (int i = 0; i < 4; i++) {
    for (std::size_t column = 0; column < 4; column++) {
      quarter(b, column, 4 + column, 8 + column, 12 + column);
    }
    for (std::size_t column = 0; column < 4; column++) {
      quarter(b, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4);
    }
  }
  for (std::size_t i = 0; i < key.size(); i++) b[4 + i] += key[i];
  return b;
}

void put_word(char* to, std::uint32_t word) {
  for (int i = 0; i < 4; i++) to[i] = static_cast<char>(word >> 8 * i);
}

std::uint32_t get_word(const char* from) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; i++) word |= std::uint32_t{static_cast<std::uint8_t>(from[i])} << 8 * i;
  return word;
}

/// The 1,024 bytes of one key: groups of four blocks, word i of each side by side.
std::array<char, kOutput> output(const std::array<std::uint32_t, 8>& key) {
  std::array<char, kOutput> out;
  char* to = out.data();
  for (std::uint32_t group = 0; group < kBlocks; group += kSide) {
    std::array<Block, kSide> side;
    for (std::uint32_t i = 0; i < kSide; i++) side[i] = block(key, group + i);
    for (std::size_t word = 0; word < kWords; word++) {
      for (const Block& b : side) {
        put_word(to, b[word]);
        to += sizeof(std::uint32_t);
      }
    }
  }
  return out;
}

}  // namespace

std::string chacha8(const std::array<std::uint8_t, 32>& seed, std::size_t size) {
  std::string bytes;
  bytes.reserve(size);
  std::array<char, kKey> next;
  std::memcpy(next.data(), seed.data(), seed.size());
  while (bytes.size() < size) {
    std::array<std::uint32_t, 8> key;
    for (std::size_t i = 0; i < key.size(); i++) key[i] = get_word(next.data() + 4 * i);
    const auto out = output(key);
    bytes.append(out.data(), std::min(size - bytes.size(), out.size() - kKey));
    std::memcpy(next.data(), out.data() + out.size() - kKey, kKey);
  }
  return bytes;
}

std::string random_content(std::size_t size, char direction) {
  std::array<std::uint8_t, 32> seed{};
  seed[0] = static_cast<std::uint8_t>(direction);
  return chacha8(seed, size);
}

}  // namespace netdyno
