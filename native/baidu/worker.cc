// netdyno-worker-baidu: transport brpc-asio, wire baidu_std without brpc, on the
// event loops of the asio worker.
#include "asio/client.h"
#include "asio/server.h"
#include "baidu/options.h"
#include "baidu/work.h"

namespace netdyno::baidu {
namespace {

class BrpcAsioTransport : public Transport {
 public:
  contract::Transport describe() const override {
    contract::Transport transport;
    transport.name = "brpc-asio";
    transport.doc = "brpc's protocol baidu_std in C++ without brpc, on asio's event loops; codec bytes";
    transport.wire = kBaiduStd;
    transport.roles = {contract::Role::server, contract::Role::client};
    transport.delivery = "message";
    transport.options = options();
    return transport;
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
  BrpcAsioTransport transport;
  return run_worker({"netdyno-worker-baidu", NETDYNO_VERSION, {{"asio", asio_worker::version()}}},
                    {&transport});
}

}  // namespace netdyno::baidu

int main() { return netdyno::baidu::run(); }
