// netdyno-worker-http1-asio: transport http1-asio, which is wire http/1.1 on the event
// loops of the asio worker.
#include "asio/loops.h"
#include "http1/server.h"
#include "tls/work.h"

int main() {
  using namespace netdyno;
  LoopTransport transport(
      http1::transport("http1-asio",
                       "HTTP/1.1 in C++ on asio's event loops, parsed by llhttp; codec bytes only"),
      asio_worker::engine(), http1::work_of);
  return run_worker(
      {"netdyno-worker-http1-asio", NETDYNO_VERSION,
       tls::with_library({{"asio", asio_worker::version()}, {"llhttp", http1::parser_version()}})},
      {&transport});
}
