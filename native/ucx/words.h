// Numbers as active messages carry them: eight bytes each, the lowest first.
//
// Layer: bottom. Plain functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace netdyno::ucx {

/// The bytes of numbers.
std::string words(std::span<const std::uint64_t> numbers);
/// The numbers of bytes; an incomplete one at the end is left out.
std::vector<std::uint64_t> numbers(std::string_view words);

}  // namespace netdyno::ucx
