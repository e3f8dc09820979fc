// netdyno-worker-verbs: transport verbs, wire verbs.
#include "kit/worker.h"

#include <utility>

#include "kit/message_ends.h"
#include "verbs/engine.h"

namespace {

using netdyno::contract::Option;
using netdyno::contract::Setup;

constexpr int kMaxLoops = 64;

class Verbs : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    auto transport = netdyno::message_transport(
        "verbs", "RDMA by libibverbs: a reliable connection each, a completion queue per thread");
    for (Option& option : netdyno::verbs::setting_options()) transport.options.push_back(std::move(option));
    return transport;
  }

  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    return std::make_unique<netdyno::MessageServer>(setup, make, demands());
  }

  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    return std::make_unique<netdyno::MessageClient>(setup, load, make, demands());
  }

 private:
  static std::unique_ptr<netdyno::MessageEngine> make(const netdyno::MessageTerms& terms) {
    return std::make_unique<netdyno::verbs::Engine>(terms);
  }
  static netdyno::MessageDemands demands() {
    netdyno::MessageDemands demands;
    demands.max_loops = kMaxLoops;
    demands.over = "rdma";
    return demands;
  }
};

}  // namespace

int main() {
  Verbs transport;
  return netdyno::run_worker({"netdyno-worker-verbs", NETDYNO_VERSION, {{"libibverbs", IBVERBS_VERSION}}},
                             {&transport});
}
