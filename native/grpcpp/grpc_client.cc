#include "grpcpp/grpc_client.h"

#include <numeric>

#include "grpcpp/loops.h"
#include "grpcpp/options.h"
#include "grpcpp/source.h"

namespace netdyno::grpc_worker {

using contract::ErrorKind;
using contract::Failure;

GrpcClient::GrpcClient(const contract::Setup& setup, Load& load)
    : load_(load),
      contents_(setup.exchange),
      options_(effective(setup, contents_)),
      routes_(netdyno::routes(setup)),
      arguments_(channel_arguments(options_)),
      trial_{plan_, routes_, arguments_, options_.at("verify") == "content", setup.load.connections} {
  require_descriptors(setup.load.connections);
  for (const Route& route : routes_) require_own_source(route);
  const Direction direction{contents_.up(), contents_.down(), "reply"};
  const Cut cut = cut_of(setup);
  const Methods methods = methods_of(setup.exchange);
  plan_.streams = options_.at("mode") == "stream";
  plan_.method = full_name(plan_.streams ? methods.talk : methods.unary);
  if (methods.chunks.empty()) {
    plan_.form = make_form(direction, cut.raw);
  } else {
    plan_.chunks = std::make_unique<Chunks>(direction, cut);
    plan_.method = full_name(methods.chunks);
  }
  load.encoded(contents_.up().size);
  for (int lane = 0; lane < load.lanes(); lane++) {
    loops_.push_back(std::make_unique<ClientLoop>(trial_, load, lane));
  }
  run_all(
      loops_.size(), [this](std::size_t i) { loops_[i]->open(); }, [this] { stop_loops(); });
}

/// Cutting what is in flight on all loops at once keeps the end short.
GrpcClient::~GrpcClient() {
  run_all(
      loops_.size(), [this](std::size_t i) { loops_[i].reset(); }, [] {});
}

contract::Ready GrpcClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = trial_.connections;
  ready.options = options_;
  ready.threads = load_.lanes();
  if (contents_.structured()) {
    ready.up_bytes = contents_.up().size;
    ready.down_bytes = contents_.down().size;
  }
  return ready;
}

void GrpcClient::run() {
  const auto body = [this](std::size_t i) {
    if (!closed_) loops_[i]->run();
  };
  run_all(loops_.size(), body, [this] { stop_loops(); });
  const auto active = [](std::int64_t sum, const auto& loop) { return sum + loop->active_connections(); };
  if (std::accumulate(loops_.begin(), loops_.end(), std::int64_t{0}, active) == 0 && !load_.ended()) {
    throw Failure(ErrorKind::peer, "run load: the peer closed every connection that carried it");
  }
}

void GrpcClient::ended() {
  for (const auto& loop : loops_) loop->end(load_.closing());
}

void GrpcClient::close() {
  closed_ = true;
  stop_loops();
}

void GrpcClient::stop_loops() {
  for (const auto& loop : loops_) loop->stop();
}

std::int64_t GrpcClient::connections() const {
  std::int64_t sum = 0;
  for (const auto& loop : loops_) sum += loop->open_connections();
  return sum;
}

}  // namespace netdyno::grpc_worker
