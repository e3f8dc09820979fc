// netdyno-worker-brpc-cpp: transport brpc-cpp, wire baidu_std, on Apache brpc
// itself. Built only where brpc is installed, which has no Debian package: it is
// written against brpc's published headers (1.6 and later) and was compiled
// against their declarations alone. `netdyno check` it before you believe it.
// Transport brpc (netdyno-worker-brpc, in Go) speaks the same protocol.
#include "kit/worker.h"

#include <brpc/protocol.h>

#include "brpc/brpc_client.h"
#include "brpc/brpc_server.h"

namespace {

using netdyno::contract::Option;
using netdyno::contract::OptionType;
using netdyno::contract::Role;
using netdyno::contract::Setup;

Option choice(const std::string& name, const std::vector<std::string>& choices, const std::string& doc) {
  Option option;
  option.name = name;
  option.type = OptionType::choice;
  option.fallback = choices.front();
  option.choices = choices;
  option.doc = doc;
  return option;
}

std::vector<Option> options() {
  auto payload =
      choice("payload", {"block", "attachment"},
             "how codec bytes travels: block in a protobuf Block; attachment beside an empty one, brpc's "
             "own way for bulk; give both ends the same");
  auto connection =
      choice("connection", {"single", "pooled"},
             "ChannelOptions::connection_type: single lets calls share a connection; pooled gives it to "
             "one call at a time, so in_flight above 1 is refused");
  connection.roles = {Role::client};
  auto verify =
      choice("verify", {"content", "length"},
             "what is compared before ready: the content that our servers send, or only its length");
  verify.roles = {Role::client};
  Option max_body;
  max_body.name = "max_body";
  max_body.type = OptionType::bytes;
  max_body.unit = "B";
  max_body.fallback = 64 << 20;
  max_body.min = 1024;
  max_body.max = (std::int64_t{1} << 31) - 1;
  max_body.doc = "flag max_body_size: largest body (meta, message and attachment) this end receives";
  return {payload, max_body, connection, verify};
}

class BrpcTransport : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    netdyno::contract::Transport transport;
    transport.name = "brpc-cpp";
    transport.doc = "Apache brpc in C++: brpc::Server, and brpc::Channel with a bthread for each slot";
    transport.wire = "baidu_std";
    transport.roles = {Role::server, Role::client};
    transport.delivery = "message";
    transport.codecs = {"bytes", "proto"};
    transport.features = {"fresh"};
    transport.options = options();
    return transport;
  }

  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    return std::make_unique<netdyno::brpc_worker::BrpcServer>(setup);
  }

  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    return std::make_unique<netdyno::brpc_worker::BrpcClient>(setup, load);
  }
};

}  // namespace

int main() {
  BrpcTransport transport;
  return netdyno::run_worker({"netdyno-worker-brpc-cpp", NETDYNO_VERSION, {{"brpc", NETDYNO_BRPC_VERSION}}},
                             {&transport});
}
