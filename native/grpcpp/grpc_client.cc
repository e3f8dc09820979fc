#include "grpcpp/grpc_client.h"

#include "grpcpp/options.h"
#include "grpcpp/source.h"

namespace netdyno::grpc_worker {

GrpcClient::GrpcClient(const contract::Setup& setup, Load& load)
    : contents_(setup.exchange),
      options_(effective(setup, contents_)),
      routes_(netdyno::routes(setup)),
      arguments_(channel_arguments(options_)),
      trial_{plan_, routes_, arguments_, options_.at("verify") == "content", setup.load.connections},
      loops_(load) {
  require_descriptors(setup.load.connections);
  for (const Route& route : routes_) require_own_source(route);
  const Direction direction{contents_.up(), contents_.down(), "reply"};
  const Chunking chunking = chunking_of(setup);
  const Methods methods = methods_of(setup.exchange);
  plan_.streams = options_.at("mode") == "stream";
  plan_.method = full_name(plan_.streams ? methods.stream : methods.unary);
  if (methods.chunks.empty()) {
    plan_.payload = make_payload(direction, chunking.raw);
  } else {
    plan_.chunks = std::make_unique<Chunks>(direction, chunking);
    plan_.method = full_name(methods.chunks);
  }
  load.encoded(contents_.up().size, contents_.down().size);
  for (int shard = 0; shard < load.shards(); shard++) {
    loops_.add(std::make_unique<ClientLoop>(trial_, load, shard));
  }
  run_all(
      loops_.size(), [this](std::size_t i) { loops_[i].open(); }, [this] { loops_.stop(); });
}

/// All loops cancel their exchanges at the same time, to end soon.
GrpcClient::~GrpcClient() {
  run_all(
      loops_.size(), [this](std::size_t i) { loops_.destroy(i); }, [] {});
}

contract::Ready GrpcClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = trial_.connections;
  for (std::size_t i = 0; i < loops_.size(); i++) ready.repeated += loops_[i].repeated();
  ready.options = options_;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  if (contents_.structured()) {
    ready.up_bytes = contents_.up().size;
    ready.down_bytes = contents_.down().size;
  }
  return ready;
}

}  // namespace netdyno::grpc_worker
