#include "ucx/words.h"

namespace netdyno::ucx {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

std::string words(std::span<const std::uint64_t> numbers) {
  std::string bytes;
  bytes.reserve(numbers.size() * kWord);
  for (const std::uint64_t number : numbers) {
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  }
  return bytes;
}

std::vector<std::uint64_t> numbers(std::string_view words) {
  std::vector<std::uint64_t> all;
  all.reserve(words.size() / kWord);
  for (; words.size() >= kWord; words.remove_prefix(kWord)) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < kWord; i++) {
      number |= std::uint64_t{static_cast<unsigned char>(words[i])} << (8 * i);
    }
    all.push_back(number);
  }
  return all;
}

}  // namespace netdyno::ucx
