// The options of transport baidu-std-asio: those of baidu-std that codec bytes needs, and
// those of every loop server.
//
// Layer: bottom of the baidu-std-asio worker. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "kit/contract.h"

namespace netdyno::baidu {

std::vector<contract::Option> options();

/// The buffer sizes of one end, in bytes.
struct Buffers {
  std::size_t read = 0;
  std::size_t write = 0;
  std::size_t max_body = 0;
};

/// Reads them from complete options.
Buffers buffers_of(const contract::Json& options);

}  // namespace netdyno::baidu
