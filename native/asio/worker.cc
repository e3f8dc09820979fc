// netdyno-worker-asio: transport asio, wire echo, on Debian's standalone asio.
#include "kit/worker.h"

#include "asio/client.h"
#include "asio/server.h"

namespace {

using netdyno::contract::Option;
using netdyno::contract::OptionType;
using netdyno::contract::Role;

class AsioTransport : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    Option buffer;
    buffer.name = "read_buffer";
    buffer.type = OptionType::bytes;
    buffer.unit = "B";
    buffer.fallback = 64 << 10;
    buffer.min = 1;
    buffer.max = 64 << 20;
    buffer.roles = {Role::server};
    buffer.doc = "what one read takes at most, per connection";
    Option listener;
    listener.name = "listener";
    listener.type = OptionType::choice;
    listener.fallback = "shared";
    listener.choices = {"shared", "reuseport"};
    listener.roles = {Role::server};
    listener.doc =
        "who deals connections to loops: one accepting socket in turn, or the kernel by SO_REUSEPORT";
    return {"asio",   "asio event loops, one io_context per thread, callbacks",
            "echo",   {Role::server, Role::client},
            "chunks", {buffer, listener}};
  }

  std::unique_ptr<netdyno::Server> server(const netdyno::contract::Setup& setup) override {
    return std::make_unique<netdyno::asio_worker::AsioServer>(setup);
  }

  std::unique_ptr<netdyno::Client> client(const netdyno::contract::Setup& setup,
                                          netdyno::Load& load) override {
    return std::make_unique<netdyno::asio_worker::AsioClient>(setup, load);
  }
};

std::string asio_version() {
  return std::to_string(ASIO_VERSION / 100000) + "." + std::to_string(ASIO_VERSION / 100 % 1000) + "." +
         std::to_string(ASIO_VERSION % 100);
}

}  // namespace

int main() {
  AsioTransport transport;
  return netdyno::run_worker({"netdyno-worker-asio", NETDYNO_VERSION, {{"asio", asio_version()}}},
                             {&transport});
}
