// splitmix64: the kit's random generator. Layer: bottom. Its state is a plain integer.
//
// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
#pragma once

#include <cstdint>

namespace netdyno {

inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// Draws 64 uniform bits and advances the state.
inline std::uint64_t split_mix(std::uint64_t& state) { return mix(state += 0x9e3779b97f4a7c15); }

}  // namespace netdyno
