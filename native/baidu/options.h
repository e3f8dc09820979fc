// The knobs of transport brpc-asio: those of transport brpc that bytes alone
// need, and those of every loop server.
//
// Layer: bottom of the baidu worker. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "kit/contract.h"

namespace netdyno::baidu {

std::vector<contract::Option> options();

/// What one end reads and writes by, in bytes.
struct Buffers {
  std::size_t read = 0;
  std::size_t write = 0;
  std::size_t max_body = 0;
};

/// Reads them from complete options.
Buffers buffers_of(const contract::Json& options);

}  // namespace netdyno::baidu
