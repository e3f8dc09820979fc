// The loops of the asio worker, for the workers of every wire. Layer: asio worker, top.
#pragma once

#include "asio/client.h"
#include "asio/server.h"

namespace netdyno::asio_worker {

inline Engine engine() { return Engine::of<AsioServerLoop, AsioClientLoop>(); }

}  // namespace netdyno::asio_worker
