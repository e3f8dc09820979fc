// netdyno-worker-libevent: transport libevent, wires echo and stream.
#include "kit/worker.h"

#include <event2/event.h>

#include "kit/ends.h"
#include "kit/options.h"
#include "libevent/client.h"
#include "libevent/server.h"

namespace {

using netdyno::contract::Option;
using netdyno::contract::Setup;
using netdyno::libevent_worker::Api;

Option api_option() {
  return netdyno::choice_option(
      "api", {"event", "bufferevent"},
      "event: readiness events and plain reads and writes; bufferevent: libevent's buffers, one copy more "
      "each way");
}

Api api_of(const Setup& setup) {
  return netdyno::libevent_worker::parse_api(setup.options.at("api").get<std::string>());
}

class Libevent : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    auto transport = netdyno::loop_transport("libevent", "libevent, one event_base per thread");
    transport.options.push_back(api_option());
    for (Option& option : netdyno::pace_options()) transport.options.push_back(std::move(option));
    return transport;
  }

  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    return std::make_unique<netdyno::LoopServer>(setup, [api = api_of(setup)] {
      return std::make_unique<netdyno::libevent_worker::EventServerLoop>(api);
    });
  }

  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    return std::make_unique<netdyno::LoopClient>(setup, load, [api = api_of(setup)] {
      return std::make_unique<netdyno::libevent_worker::EventClientLoop>(api);
    });
  }
};

}  // namespace

int main() {
  Libevent transport;
  return netdyno::run_worker(
      {"netdyno-worker-libevent", NETDYNO_VERSION, {{"libevent", event_get_version()}}}, {&transport});
}
