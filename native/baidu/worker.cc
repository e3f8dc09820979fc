// netdyno-worker-baidu-std-asio: transport baidu-std-asio, which is wire baidu_std on the event
// loops of the asio worker, without brpc.
#include "asio/client.h"
#include "asio/server.h"
#include "baidu/options.h"
#include "baidu/work.h"

namespace netdyno::baidu {
namespace {

class BaiduStdTransport : public Transport {
 public:
  contract::Transport describe() const override {
    contract::Transport transport;
    transport.name = "baidu-std-asio";
    transport.doc = "brpc's protocol baidu_std in C++ on asio's event loops, without brpc; codec bytes only";
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
  BaiduStdTransport transport;
  return run_worker({"netdyno-worker-baidu-std-asio", NETDYNO_VERSION, {{"asio", asio_worker::version()}}},
                    {&transport});
}

}  // namespace netdyno::baidu

int main() { return netdyno::baidu::run(); }
