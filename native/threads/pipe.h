// A pipe that bytes pass between a socket and something else without being copied.
// Layer: threads worker, bottom. One thread uses it.
#pragma once

#include "kit/descriptor.h"

namespace netdyno::threads_worker {

struct Pipe {
  /// Throws Failure{setup} when files run out.
  Pipe();

  Descriptor out;  // to read from
  Descriptor in;   // to write to
};

}  // namespace netdyno::threads_worker
