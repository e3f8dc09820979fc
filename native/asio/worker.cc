// netdyno-worker-asio: transport asio, wires echo and stream, on Debian's
// standalone asio.
#include "asio/loops.h"
#include "kit/stream.h"

int main() {
  using namespace netdyno;
  LoopTransport transport(
      paced(loop_transport("asio", "asio event loops, one io_context per thread, callbacks")),
      asio_worker::engine());
  return run_worker({"netdyno-worker-asio", NETDYNO_VERSION, {{"asio", asio_worker::version()}}},
                    {&transport});
}
