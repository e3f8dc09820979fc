// What a user's file holds, within bounds.
// Layer: above contract. Any thread.
#pragma once

#include <cstddef>
#include <string>

namespace netdyno {

/// Reads a regular file of at most that many bytes. Throws Failure{setup} that begins with
/// what, such as "option paths", and names the file.
std::string read_file(const std::string& what, const std::string& name, std::size_t most);

}  // namespace netdyno
