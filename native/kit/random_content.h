// The content of codec bytes: random, so that nothing can compress it, and the same in
// every trial, so that both ends know it. Go counterpart:
// internal/work/codec/random.go.
//
// Layer: bottom. Plain functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace netdyno {

/// The first size bytes of ChaCha8Rand from seed, as 64-bit outputs in
/// little-endian order: what Go's math/rand/v2 reads from NewChaCha8(seed).
/// Source: R. Cox, F. Valsorda, "ChaCha8Rand", c2sp.org/chacha8rand.
std::string chacha8(const std::array<std::uint8_t, 32>& seed, std::size_t size);

/// The content of a message of size bytes; direction is 'u' (up) or 'd' (down).
std::string random_content(std::size_t size, char direction);

}  // namespace netdyno
