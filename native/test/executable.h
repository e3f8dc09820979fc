// The worker under test. Layer: test.
#pragma once

#include <string>

namespace netdyno::test {

/// Path of the executable, given on the command line.
std::string& executable();

}  // namespace netdyno::test
