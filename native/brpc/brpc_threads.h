// brpc's worker threads. Layer: below brpc_client and brpc_server.
#pragma once

#include <bthread/bthread.h>

#include <algorithm>

#include "kit/address.h"

namespace netdyno::brpc_worker {

/// Starts as many worker threads as the setup asks for, but at least 4, which brpc requires
/// (bthread/types.h, BTHREAD_MIN_CONCURRENCY). All bthreads of the process run on them. Call
/// it before any other function of brpc: without it brpc starts 9, and it never ends one.
inline void set_threads(const contract::Setup& setup) {
  constexpr int kLeast = 4;
  bthread_setconcurrency(std::max(kLeast, effective_threads(setup)));
}

}  // namespace netdyno::brpc_worker
