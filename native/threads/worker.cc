// netdyno-worker-threads: transport threads, wires echo and stream, by the kernel's calls
// alone.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "threads/ends.h"
#include "threads/transfers.h"

namespace netdyno::threads_worker {
namespace {

class Threads : public Transport {
 public:
  contract::Transport describe() const override {
    auto transport = loop_transport("threads", "one thread per connection, which waits in the system call");
    std::erase_if(transport.options, [](const contract::Option& option) { return option.name == kListener; });
    transport.features.emplace_back("work-sleep");
    for (contract::Option& option : setting_options()) transport.options.push_back(std::move(option));
    return transport;
  }

  std::unique_ptr<Server> server(const contract::Setup& setup) override {
    return std::make_unique<ThreadsServer>(setup);
  }

  std::int64_t shards(const contract::Setup& setup) const override {
    return std::min(setup.load.connections, kMaxConnections);
  }

  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    return std::make_unique<LoopClient>(
        setup, load,
        [shared = std::make_shared<Shared>(setup)] { return std::make_unique<ThreadLoop>(shared); },
        Work::of(setup));
  }
};

}  // namespace
}  // namespace netdyno::threads_worker

int main() {
  netdyno::threads_worker::Threads transport;
  const int status = netdyno::run_worker({"netdyno-worker-threads", NETDYNO_VERSION, {}}, {&transport});
  std::fputs(netdyno::threads_worker::account().text().c_str(), stderr);
  return status;
}
