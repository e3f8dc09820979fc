// netdyno-worker-brpc: transport brpc, wire baidu_std, on Apache brpc's own library.
// Built only where that is installed; README.md beside this file says how to build it.
// Transport baidu-std, in Go, speaks the same protocol without brpc.
#include "kit/worker.h"

#include <brpc/protocol.h>

#include "brpc/brpc_client.h"
#include "brpc/brpc_server.h"
#include "kit/options.h"

namespace {

using netdyno::contract::Option;
using netdyno::contract::Role;
using netdyno::contract::Setup;

std::vector<Option> options() {
  return {netdyno::choice_option(
              "payload", {"block", "attachment"},
              "how codec bytes travels: block, in a protobuf Block; attachment, beside an empty "
              "Block, which brpc recommends for bulk; give both ends the same"),
          netdyno::bytes_option(
              "max_body", {64 << 20, 1024, (std::int64_t{1} << 31) - 1},
              "flag max_body_size: largest body (meta, message and attachment) this end receives"),
          netdyno::only(
              Role::client,
              netdyno::choice_option(
                  "connection", {"single", "pooled"},
                  "ChannelOptions::connection_type: with single, calls share a connection; with pooled, "
                  "it carries one call at a time, so in_flight above 1 is refused")),
          netdyno::only(Role::client,
                        netdyno::choice_option("verify", {"content", "length"},
                                               "what is compared before ready: the content that our servers "
                                               "send, or only its length"))};
}

class BrpcTransport : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    netdyno::contract::Transport transport;
    transport.name = "brpc";
    transport.doc = "Apache brpc's own library: brpc::Server, and brpc::Channel with a bthread for each slot";
    transport.wire = "baidu_std";
    transport.roles = {Role::server, Role::client};
    transport.delivery = "message";
    transport.codecs = {"bytes", "proto"};
    transport.features = {"fresh", "turns"};
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
  return netdyno::run_worker({"netdyno-worker-brpc", NETDYNO_VERSION, {{"brpc", NETDYNO_BRPC_VERSION}}},
                             {&transport});
}
