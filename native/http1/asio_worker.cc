// netdyno-worker-http1-asio: transport http1-asio, which is wire http/1.1 on the event
// loops of the asio worker.
#include "asio/client.h"
#include "asio/server.h"
#include "http1/work.h"
#include "tls/work.h"

namespace netdyno::http1 {
namespace {

class AsioHttp : public Transport {
 public:
  contract::Transport describe() const override {
    return transport("http1-asio",
                     "HTTP/1.1 in C++ on asio's event loops, parsed by llhttp; codec bytes only");
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
  AsioHttp transport;
  return run_worker({"netdyno-worker-http1-asio", NETDYNO_VERSION,
                     tls::with_library({{"asio", asio_worker::version()}, {"llhttp", parser_version()}})},
                    {&transport});
}

}  // namespace netdyno::http1

int main() { return netdyno::http1::run(); }
