// netdyno-worker-grpcpp: transport grpcpp, wire grpc:netdyno.v1, on gRPC C++.
#include "kit/worker.h"

#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>

#include "grpcpp/client.h"
#include "grpcpp/handler.h"
#include "grpcpp/options.h"

namespace {

using netdyno::contract::Role;
using netdyno::contract::Setup;

class GrpcTransport : public netdyno::Transport {
 public:
  netdyno::contract::Transport describe() const override {
    netdyno::contract::Transport transport;
    transport.name = "grpcpp";
    transport.doc =
        "gRPC by its C++ library, asynchronous, a completion queue per thread: one connection is one "
        "channel, "
        "exchanges in flight are concurrent RPCs";
    transport.wire = "grpc:netdyno.v1";
    transport.roles = {Role::server, Role::client};
    transport.delivery = "message";
    transport.codecs = {"bytes", "proto"};
    transport.features = {"stream-up", "stream-down", "stream-both", "turns", "work-cpu", "work-sleep"};
    transport.options = netdyno::grpc_worker::options();
    return transport;
  }

  std::unique_ptr<netdyno::Server> server(const Setup& setup) override {
    return std::make_unique<netdyno::grpc_worker::GrpcServer>(setup);
  }

  std::unique_ptr<netdyno::Client> client(const Setup& setup, netdyno::Load& load) override {
    return std::make_unique<netdyno::grpc_worker::GrpcClient>(setup, load);
  }
};

}  // namespace

int main() {
  GrpcTransport transport;
  const auto protobuf = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
  return netdyno::run_worker(
      {"netdyno-worker-grpcpp", NETDYNO_VERSION, {{"grpc++", grpc::Version()}, {"protobuf", protobuf}}},
      {&transport});
}
