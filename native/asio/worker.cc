// netdyno-worker-asio: transport asio, wires echo and stream, on Debian's
// standalone asio.
#include "asio/client.h"
#include "asio/server.h"

namespace netdyno::asio_worker {
namespace {

class AsioTransport : public Transport {
 public:
  contract::Transport describe() const override {
    auto transport = loop_transport("asio", "asio event loops, one io_context per thread, callbacks");
    for (contract::Option& option : pace_options()) transport.options.push_back(std::move(option));
    return transport;
  }

  std::unique_ptr<Server> server(const contract::Setup& setup) override {
    return std::make_unique<LoopServer>(setup, std::make_unique<AsioServerLoop>);
  }

  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    return std::make_unique<LoopClient>(setup, load, std::make_unique<AsioClientLoop>);
  }
};

}  // namespace

int run() {
  AsioTransport transport;
  return run_worker({"netdyno-worker-asio", NETDYNO_VERSION, {{"asio", version()}}}, {&transport});
}

}  // namespace netdyno::asio_worker

int main() { return netdyno::asio_worker::run(); }
