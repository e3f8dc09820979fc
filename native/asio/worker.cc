// netdyno-worker-asio: transport asio, wires echo and stream, on Debian's
// standalone asio.
#include "asio/client.h"
#include "asio/server.h"
#include "kit/echo.h"

namespace netdyno::asio_worker {
namespace {

class AsioTransport : public Transport {
 public:
  contract::Transport describe() const override {
    contract::Transport transport;
    transport.name = "asio";
    transport.doc = "asio event loops, one io_context per thread, callbacks";
    transport.wire = kEcho;
    transport.roles = {contract::Role::server, contract::Role::client};
    transport.delivery = "chunks";
    transport.options = socket_options();
    transport.options.push_back(listener_option());
    transport.options.push_back(read_buffer_option());
    transport.features = {"stream-up", "stream-down", "stream-both"};
    return transport;
  }

  std::unique_ptr<Server> server(const contract::Setup& setup) override {
    return std::make_unique<LoopServer>(setup, std::make_unique<AsioServerLoop>);
  }

  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    return std::make_unique<LoopClient>(setup, load, std::make_unique<AsioClientLoop>);
  }
};

std::string asio_version() {
  return std::to_string(ASIO_VERSION / 100000) + "." + std::to_string(ASIO_VERSION / 100 % 1000) + "." +
         std::to_string(ASIO_VERSION % 100);
}

}  // namespace

int run() {
  AsioTransport transport;
  return run_worker({"netdyno-worker-asio", NETDYNO_VERSION, {{"asio", asio_version()}}}, {&transport});
}

}  // namespace netdyno::asio_worker

int main() { return netdyno::asio_worker::run(); }
