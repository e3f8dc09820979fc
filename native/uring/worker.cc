// netdyno-worker-uring: transport uring, wires echo and stream.
#include "uring/ends.h"

int main() {
  using namespace netdyno;
  LoopTransport transport(paced(loop_transport("uring", "io_uring by liburing, one ring per thread",
                                               uring_worker::setting_options())),
                          uring_worker::engine());
  return run_worker({"netdyno-worker-uring", NETDYNO_VERSION, {{"liburing", LIBURING_VERSION}}},
                    {&transport});
}
