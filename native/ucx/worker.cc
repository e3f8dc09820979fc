// netdyno-worker-ucx: transport ucx, wire ucx.
#include "kit/worker.h"

#include <ucs/debug/debug.h>

#include <csignal>
#include <memory>
#include <utility>

#include "kit/message_ends.h"
#include "ucx/context.h"
#include "ucx/engine.h"

namespace {

using netdyno::contract::Option;
using netdyno::contract::Setup;
using netdyno::ucx::Settings;

netdyno::MakeEngine engines(const Settings& settings) {
  return [settings](const netdyno::MessageTerms& terms) {
    return std::make_unique<netdyno::ucx::Engine>(terms, settings);
  };
}

class Ucx : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    auto transport = netdyno::message_transport("ucx", "UCX's protocols (UCP), a worker per thread");
    for (Option& option : netdyno::ucx::setting_options()) transport.options.push_back(std::move(option));
    return transport;
  }
  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    const Settings settings = Settings::of(setup.options);
    return std::make_unique<netdyno::MessageServer>(setup, engines(settings), demands(settings));
  }
  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    const Settings settings = Settings::of(setup.options);
    return std::make_unique<netdyno::MessageClient>(setup, load, engines(settings), demands(settings));
  }
};

netdyno::WorkerInfo info() {
  netdyno::WorkerInfo info{"netdyno-worker-ucx", NETDYNO_VERSION, {{"ucx", netdyno::ucx::version()}}};
  const std::string environment = netdyno::ucx::environment();
  if (!environment.empty()) info.libraries.push_back({"ucx's environment", environment});
  return info;
}

/// UCX, where it catches these, prints what it knows and may wait for a debugger.
void keep_signals() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    struct sigaction installed {};
    if (sigaction(signal, nullptr, &installed) == 0 && installed.sa_handler != SIG_DFL) {
      ucs_debug_disable_signal(signal);
    }
  }
}

}  // namespace

int main() {
  keep_signals();
  Ucx transport;
  return netdyno::run_worker(info(), {&transport});
}
