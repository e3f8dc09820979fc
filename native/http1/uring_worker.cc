// netdyno-worker-http1-uring: transport http1-uring, which is wire http/1.1 on the rings of
// the uring worker.
#include <utility>

#include "http1/work.h"
#include "tls/work.h"
#include "uring/client.h"
#include "uring/server.h"

namespace netdyno::http1 {
namespace {

using uring_worker::Settings;
using uring_worker::UringClientLoop;
using uring_worker::UringServerLoop;

Settings settings_of(const contract::Setup& setup) {
  Settings settings = Settings::of(setup);
  if (setup.tls && settings.zero_copy) {
    throw contract::Failure(
        contract::ErrorKind::unsupported,
        "option send is zerocopy and setup.tls is given: what is encrypted lies in buffers "
        "that are filled again before the network card need be done with them");
  }
  return settings;
}

class UringHttp : public Transport {
 public:
  contract::Transport describe() const override {
    contract::Transport all = transport(
        "http1-uring", "HTTP/1.1 in C++ on io_uring by liburing, parsed by llhttp; codec bytes only");
    for (contract::Option& option : uring_worker::setting_options()) all.options.push_back(std::move(option));
    return all;
  }

  std::unique_ptr<Server> server(const contract::Setup& setup) override {
    const auto make = [settings = settings_of(setup)] { return std::make_unique<UringServerLoop>(settings); };
    return std::make_unique<LoopServer>(setup, make, work_of(setup));
  }

  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    const auto make = [settings = settings_of(setup)] { return std::make_unique<UringClientLoop>(settings); };
    return std::make_unique<LoopClient>(setup, load, make, work_of(setup));
  }
};

}  // namespace

int run() {
  UringHttp transport;
  return run_worker({"netdyno-worker-http1-uring", NETDYNO_VERSION,
                     tls::with_library({{"liburing", LIBURING_VERSION}, {"llhttp", parser_version()}})},
                    {&transport});
}

}  // namespace netdyno::http1

int main() { return netdyno::http1::run(); }
