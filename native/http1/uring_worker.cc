// netdyno-worker-http1-uring: transport http1-uring, which is wire http/1.1 on the rings of
// the uring worker.
#include "http1/server.h"
#include "tls/work.h"
#include "uring/ends.h"

int main() {
  using namespace netdyno;
  auto all = http1::transport("http1-uring",
                              "HTTP/1.1 in C++ on io_uring by liburing, parsed by llhttp; codec bytes only");
  all.options = joined(all.options, uring_worker::setting_options());
  LoopTransport transport(all, uring_worker::engine(), http1::work_of);
  return run_worker(
      {"netdyno-worker-http1-uring", NETDYNO_VERSION,
       tls::with_library({{"liburing", LIBURING_VERSION}, {"llhttp", http1::parser_version()}})},
      {&transport});
}
