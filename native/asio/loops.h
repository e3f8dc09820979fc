// What a worker of any wire on asio's event loops needs to know of them. It includes nothing
// of asio, which takes seconds to compile.
//
// Layer: asio worker, top.
#pragma once

#include <string>

#include "kit/ends.h"

namespace netdyno::asio_worker {

/// The loops of the asio worker.
Engine engine();

/// asio's version, such as "1.22.1".
std::string version();

}  // namespace netdyno::asio_worker
