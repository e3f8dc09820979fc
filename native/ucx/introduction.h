// What the two ends of a connection tell each other over its control socket.
//
// Layer: above settings. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "ucx/settings.h"

namespace netdyno::ucx {

struct Introduction {
  Operation operation = Operation::tag;
  std::uint64_t id = 0;      // how the other end names this end of the connection
  std::uint64_t memory = 0;  // address of the memory that the other end puts into
  std::string key;           // of that memory; both empty but for operation put
  std::string host = {};     // identity of the host's kernel since it booted
  std::string worker;        // the worker's address

  std::string text() const;
  /// Reads what the other end sent. Throws Failure{invalid} for anything else.
  static Introduction read(const std::string& text);
};

}  // namespace netdyno::ucx
