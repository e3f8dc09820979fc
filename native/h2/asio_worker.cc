// netdyno-worker-h2-asio: transport h2-asio, which is wire h2c on the event
// loops of the asio worker.
#include "asio/client.h"
#include "asio/server.h"
#include "h2/session.h"
#include "h2/work.h"
#include "tls/work.h"

namespace netdyno::h2 {
namespace {

class AsioH2 : public Transport {
 public:
  contract::Transport describe() const override {
    return transport("h2-asio", "HTTP/2 in C++ on asio's event loops, by nghttp2; codec bytes only");
  }

  std::unique_ptr<Server> server(const contract::Setup& setup) override {
    return std::make_unique<LoopServer>(setup, std::make_unique<asio_worker::AsioServerLoop>, work_of(setup));
  }

  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    return std::make_unique<LoopClient>(setup, load, std::make_unique<asio_worker::AsioClientLoop>,
                                        work_of(setup));
  }
};

}  // namespace

int run() {
  AsioH2 transport;
  return run_worker({"netdyno-worker-h2-asio", NETDYNO_VERSION,
                     tls::with_library({{"asio", asio_worker::version()}, {"nghttp2", library_version()}})},
                    {&transport});
}

}  // namespace netdyno::h2

int main() { return netdyno::h2::run(); }
