// The rings of the uring worker, for the workers of every wire. Layer: uring worker, top.
#pragma once

#include "uring/client.h"
#include "uring/server.h"
#include "uring/settings.h"

namespace netdyno::uring_worker {

/// settings reads them from a setup.
inline Engine engine(Settings (*settings)(const contract::Setup&) = Settings::of) {
  return Engine::of<UringServerLoop, UringClientLoop>(settings);
}

}  // namespace netdyno::uring_worker
