// netdyno-worker-h2-uring: transport h2-uring, which is wire h2c on the rings of the uring
// worker.
#include <utility>

#include "h2/session.h"
#include "h2/uring.h"
#include "h2/work.h"
#include "tls/work.h"

namespace netdyno::h2 {
namespace {

class UringH2 : public Transport {
 public:
  contract::Transport describe() const override {
    contract::Transport all =
        transport("h2-uring", "HTTP/2 in C++ on io_uring by liburing, by nghttp2; codec bytes only");
    for (contract::Option& option : ring_options()) all.options.push_back(std::move(option));
    return all;
  }

  std::unique_ptr<Server> server(const contract::Setup& setup) override {
    return std::make_unique<LoopServer>(setup, server_loops(setup), work_of(setup));
  }

  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    return std::make_unique<LoopClient>(setup, load, client_loops(setup), work_of(setup));
  }
};

}  // namespace

int run() {
  UringH2 transport;
  return run_worker({"netdyno-worker-h2-uring", NETDYNO_VERSION,
                     tls::with_library({{"liburing", LIBURING_VERSION}, {"nghttp2", library_version()}})},
                    {&transport});
}

}  // namespace netdyno::h2

int main() { return netdyno::h2::run(); }
