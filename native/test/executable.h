// The worker under test, and what lies in reach of a test program. Layer: test.
#pragma once

#include <filesystem>
#include <string>

namespace netdyno::test {

/// Path of the executable, given on the command line.
std::string& executable();

/// What has that path from the directory of this program. Whole paths in its sources would have
/// it compiled anew in every checkout.
inline std::string beside(const std::string& path) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / path).lexically_normal();
}

}  // namespace netdyno::test
