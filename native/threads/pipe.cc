#include "threads/pipe.h"

#include <fcntl.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "kit/contract.h"

namespace netdyno::threads_worker {

namespace {

/// Asked of the kernel: what any user may have by default (fs.pipe-max-size). With less,
/// bytes pass in smaller portions.
constexpr int kBytes = 1 << 20;

}  // namespace

Pipe::Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw contract::Failure(
        contract::ErrorKind::setup,
        "make a pipe for option splice: " + std::generic_category().message(errno) + "; raise `ulimit -n`");
  }
  out = Descriptor(ends[0]);
  in = Descriptor(ends[1]);
  fcntl(in.get(), F_SETPIPE_SZ, kBytes);
}

}  // namespace netdyno::threads_worker
