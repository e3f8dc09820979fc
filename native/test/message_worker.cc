// message-worker: transport frames over the kit's ends for libraries of whole messages.
// Its options choose the way of the messages, and faults. Layer: test.
#include <memory>

#include "kit/message_ends.h"
#include "kit/options.h"
#include "kit/worker.h"
#include "test/message_frames.h"

namespace {

using netdyno::contract::Setup;
using netdyno::test::Fault;
using netdyno::test::FrameEngine;
using netdyno::test::FrameSettings;

FrameSettings settings_of(const Setup& setup) {
  const std::string fault = setup.options.at("fault").get<std::string>();
  return {setup.options.at("sockets") == "unix", setup.options.at("wait") == "poll",
          fault == "content"   ? Fault::content
          : fault == "surplus" ? Fault::surplus
                               : Fault::none};
}

netdyno::MakeEngine engines(const Setup& setup) {
  return [settings = settings_of(setup)](const netdyno::MessageTerms& terms) {
    return std::make_unique<FrameEngine>(terms, settings);
  };
}

netdyno::MessageDemands demands(const Setup& setup) {
  const std::string over = setup.options.at("over").get<std::string>();
  return {2, over == "any" ? "" : over};
}

class Frames : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    auto transport = netdyno::message_transport("frames", "frames of a length and its bytes");
    transport.options = {netdyno::choice_option("sockets", {"tcp", "unix"}, "what carries the frames"),
                         netdyno::choice_option("wait", {"event", "poll"}, "how an idle loop waits"),
                         netdyno::choice_option("over", {"any", "tcp", "shm", "rdma"}, "the way asked for"),
                         netdyno::choice_option("fault", {"none", "content", "surplus"}, "of the server")};
    return transport;
  }
  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    return std::make_unique<netdyno::MessageServer>(setup, engines(setup), demands(setup));
  }
  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    return std::make_unique<netdyno::MessageClient>(setup, load, engines(setup), demands(setup));
  }
};

}  // namespace

int main() {
  Frames transport;
  return netdyno::run_worker({"message-worker", "0", {}}, {&transport});
}
