// netdyno-worker-h2-uring: transport h2-uring, which is wire h2c on the rings of the uring
// worker.
#include "h2/session.h"
#include "h2/work.h"
#include "tls/work.h"
#include "uring/ends.h"

int main() {
  using namespace netdyno;
  auto all = h2::transport("h2-uring", "HTTP/2 in C++ on io_uring by liburing, by nghttp2; codec bytes only");
  all.options = joined(all.options, uring_worker::setting_options());
  LoopTransport transport(all, uring_worker::engine(), h2::work_of);
  return run_worker({"netdyno-worker-h2-uring", NETDYNO_VERSION,
                     tls::with_library({{"liburing", LIBURING_VERSION}, {"nghttp2", h2::library_version()}})},
                    {&transport});
}
