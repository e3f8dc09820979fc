#include "h2grpc/ends.h"

#include <utility>

#include "h2/uring.h"
#include "h2grpc/work.h"
#include "tls/work.h"

namespace netdyno::h2grpc {

using contract::Role;
using contract::Setup;

namespace {

/// The encoded sizes, where a codec decides them.
void add_sizes(contract::Ready& ready, const grpc_worker::Contents& contents) {
  if (!contents.structured()) return;
  ready.up_bytes = contents.up().size;
  ready.down_bytes = contents.down().size;
}

class GrpcServer final : public LoopServer {
 public:
  GrpcServer(const Setup& setup, std::shared_ptr<const grpc_worker::Contents> contents)
      : LoopServer(setup, h2::server_loops(setup), work_of(setup, contents)),
        contents_(std::move(contents)) {}

  contract::Ready ready() const override {
    contract::Ready ready = LoopServer::ready();
    add_sizes(ready, *contents_);
    return ready;
  }

 private:
  std::shared_ptr<const grpc_worker::Contents> contents_;
};

class GrpcClient final : public LoopClient {
 public:
  GrpcClient(const Setup& setup, Load& load, std::shared_ptr<const grpc_worker::Contents> contents)
      : LoopClient(setup, load, h2::client_loops(setup), work_of(setup, contents)),
        contents_(std::move(contents)) {}

  contract::Ready ready() const override {
    contract::Ready ready = LoopClient::ready();
    add_sizes(ready, *contents_);
    return ready;
  }

 private:
  std::shared_ptr<const grpc_worker::Contents> contents_;
};

}  // namespace

contract::Transport transport() {
  contract::Transport transport;
  transport.name = "grpc-nghttp2";
  transport.doc =
      "gRPC in C++ on io_uring by liburing, by nghttp2 and protobuf: exchanges in flight are streams of one "
      "connection";
  transport.wire = kWire;
  transport.roles = {Role::server, Role::client};
  transport.delivery = "message";
  transport.codecs = {"bytes", "proto"};
  transport.features = tls::with_tls({"fresh", "stream-up", "stream-down", "stream-both"});
  transport.options = options();
  for (contract::Option& option : h2::ring_options()) transport.options.push_back(std::move(option));
  return transport;
}

std::unique_ptr<Server> make_server(const Setup& setup) {
  return std::make_unique<GrpcServer>(setup, contents_of(setup));
}

std::unique_ptr<Client> make_client(const Setup& setup, Load& load) {
  auto contents = contents_of(setup);
  load.encoded(contents->up().size, contents->down().size);
  return std::make_unique<GrpcClient>(setup, load, std::move(contents));
}

}  // namespace netdyno::h2grpc
