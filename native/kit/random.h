// splitmix64, the kit's random generator, and the content of codec bytes.
//
// Layer: bottom; any thread. Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014. Go counterpart: internal/work/codec/random.go.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace netdyno {

inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// Draws 64 uniform bits and advances the state.
inline std::uint64_t split_mix(std::uint64_t& state) { return mix(state += 0x9e3779b97f4a7c15); }

/// The first size bytes of ChaCha8Rand from seed, as 64-bit outputs in
/// little-endian order: what Go's math/rand/v2 reads from NewChaCha8(seed).
/// Source: R. Cox, F. Valsorda, "ChaCha8Rand", c2sp.org/chacha8rand.
std::string chacha8(const std::array<std::uint8_t, 32>& seed, std::size_t size);

/// The content of a message of size bytes; direction is 'u' (up) or 'd' (down): random, so that
/// nothing can compress it, and the same in every trial, so that both ends know it.
std::string random_content(std::size_t size, char direction);

}  // namespace netdyno
