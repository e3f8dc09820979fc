// netdyno-worker-uring: transport uring, wires echo and stream.
#include "kit/worker.h"

#include <utility>

#include "kit/ends.h"
#include "uring/client.h"
#include "uring/server.h"

namespace {

using netdyno::contract::Option;
using netdyno::contract::Setup;
using netdyno::uring_worker::Settings;
using netdyno::uring_worker::UringClientLoop;
using netdyno::uring_worker::UringServerLoop;

class Uring : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    auto transport = netdyno::loop_transport("uring", "io_uring by liburing, one ring per thread");
    for (Option& option : netdyno::uring_worker::setting_options())
      transport.options.push_back(std::move(option));
    for (Option& option : netdyno::pace_options()) transport.options.push_back(std::move(option));
    return transport;
  }

  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    return std::make_unique<netdyno::LoopServer>(
        setup, [settings = Settings::of(setup)] { return std::make_unique<UringServerLoop>(settings); });
  }

  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    return std::make_unique<netdyno::LoopClient>(setup, load, [settings = Settings::of(setup)] {
      return std::make_unique<UringClientLoop>(settings);
    });
  }
};

}  // namespace

int main() {
  Uring transport;
  return netdyno::run_worker({"netdyno-worker-uring", NETDYNO_VERSION, {{"liburing", LIBURING_VERSION}}},
                             {&transport});
}
