// netdyno-worker-h2-asio: transport h2-asio, which is wire h2c on the event
// loops of the asio worker.
#include "asio/loops.h"
#include "h2/session.h"
#include "h2/work.h"
#include "tls/work.h"

int main() {
  using namespace netdyno;
  LoopTransport transport(
      h2::transport("h2-asio", "HTTP/2 in C++ on asio's event loops, by nghttp2; codec bytes only"),
      asio_worker::engine(), h2::work_of);
  return run_worker(
      {"netdyno-worker-h2-asio", NETDYNO_VERSION,
       tls::with_library({{"asio", asio_worker::version()}, {"nghttp2", h2::library_version()}})},
      {&transport});
}
