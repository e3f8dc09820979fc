// netdyno-worker-http1-uring: transport http1-uring, which is wire http/1.1 on the rings of
// the uring worker.
#include "http1/server.h"
#include "kit/draw.h"
#include "tls/work.h"
#include "uring/ends.h"

namespace {

using namespace netdyno;

uring_worker::Settings settings_of(const contract::Setup& setup) {
  const auto settings = uring_worker::Settings::of(setup);
  if (setup.tls && settings.zero_copy) {
    throw contract::Failure(
        contract::ErrorKind::unsupported,
        "option send is zerocopy and setup.tls is given: what is encrypted lies in buffers "
        "that are filled again before the network card need be done with them");
  }
  if (settings.zero_copy && Draws(setup).vary()) {
    throw contract::Failure(
        contract::ErrorKind::unsupported,
        "option send is zerocopy and sizes vary: what tells the length of a message lies in memory that is "
        "filled again before the network card need be done with it");
  }
  return settings;
}

}  // namespace

int main() {
  auto all = http1::transport("http1-uring",
                              "HTTP/1.1 in C++ on io_uring by liburing, parsed by llhttp; codec bytes only");
  all.options = joined(all.options, uring_worker::setting_options());
  LoopTransport transport(all, uring_worker::engine(settings_of), http1::work_of);
  return run_worker(
      {"netdyno-worker-http1-uring", NETDYNO_VERSION,
       tls::with_library({{"liburing", LIBURING_VERSION}, {"llhttp", http1::parser_version()}})},
      {&transport});
}
