// Gives to a fuzzer's function what the fuzzer begins with, and changes of it, without a
// fuzzer: cut short, and with a few bytes changed. NETDYNO_CORPUS names the directory,
// from this program's.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kit/random.h"
#include "test/executable.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace netdyno::test {
namespace {

void play(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

TEST(Corpus, IsTakenWithAnyChange) {
#ifdef NETDYNO_CORPUS_CHANGES
  constexpr int kChanges = NETDYNO_CORPUS_CHANGES;
#else
  constexpr int kChanges = 100;
#endif
  std::uint64_t state = 1;
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(beside(NETDYNO_CORPUS))) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(input.empty());
    inputs++;
    for (std::size_t n = 0; n <= input.size(); n++) play(input.substr(0, n));
    for (int i = 0; i < kChanges; i++) {
      std::string changed = input;
      for (std::uint64_t left = split_mix(state) % 4 + 1; left > 0; left--) {
        changed[split_mix(state) % changed.size()] = static_cast<char>(split_mix(state));
      }
      play(changed);
    }
  }
  EXPECT_GT(inputs, 0);
}

}  // namespace
}  // namespace netdyno::test
