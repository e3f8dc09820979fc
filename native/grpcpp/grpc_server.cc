#include "grpcpp/grpc_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <utility>

#include "grpcpp/options.h"
#include "kit/address.h"
#include "kit/threads.h"

namespace netdyno::grpc_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Stream;

namespace {

std::string refusal(const contract::Exchange& exchange, const Methods& methods) {
  const std::string codec = exchange.codec.empty() ? "bytes" : exchange.codec;
  std::string served = full_name(methods.unary) + " or " + full_name(methods.talk);
  if (!methods.chunks.empty()) served = full_name(methods.chunks) + ", " + served;
  return " does not serve this trial of codec " + codec + "; expected " + served;
}

}  // namespace

GrpcServer::GrpcServer(const contract::Setup& setup)
    : contents_(setup.exchange),
      options_(effective(setup, contents_)),
      service_(methods_of(setup.exchange)),
      acceptor_(setup) {
  const Direction direction{contents_.down(), contents_.up(), "request"};
  const Methods methods = methods_of(setup.exchange);
  const Cut cut = cut_of(setup);
  service_.form = make_form(direction, cut.raw);
  if (!methods.chunks.empty()) service_.chunks = std::make_unique<Chunks>(direction, cut);
  service_.joins = setup.exchange.stream == Stream::up || setup.exchange.stream == Stream::both;
  service_.down_bytes = contents_.down().size;
  service_.refusal = refusal(setup.exchange, methods);
  start(setup);
}

void GrpcServer::start(const contract::Setup& setup) {
  using Builder = grpc::ServerBuilder::experimental_type;
  grpc::ServerBuilder builder;
  configure(builder, options_);
  builder.RegisterService(&service_.trial);
  builder.RegisterAsyncGenericService(&service_.others);
  admit_ = builder.experimental().AddExternalConnectionAcceptor(Builder::ExternalConnectionType::FROM_FD,
                                                                grpc::InsecureServerCredentials());
  for (int i = 0; i < effective_threads(setup); i++) {
    lanes_.push_back(std::make_unique<Lane>(service_, builder.AddCompletionQueue()));
  }
  server_ = builder.BuildAndStart();
  if (!server_) throw Failure(ErrorKind::setup, "start the server: gRPC says why on stderr");
  for (std::size_t i = 0; i < lanes_.size(); i++) {
    lanes_[i]->begin();
    threads_.emplace_back([this, i] {
      name_thread("lane " + std::to_string(i));
      lanes_[i]->run();
    });
  }
  acceptor_.start([this](int listener, int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = fd;
    admit_->HandleNewConnection(&connection);
  });
}

/// Shutting down ends every RPC and all waiting for more, so that the lanes end by
/// themselves; their queues come after the server.
GrpcServer::~GrpcServer() {
  acceptor_.stop();
  service_.stopping = true;
  server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC));
  for (std::thread& thread : threads_) thread.join();
  for (const auto& lane : lanes_) drain(*lane->queue);
}

contract::Ready GrpcServer::ready() const {
  contract::Ready ready;
  ready.addresses = acceptor_.addresses();
  ready.options = options_;
  ready.threads = static_cast<std::int64_t>(lanes_.size());
  if (contents_.structured()) {
    ready.up_bytes = contents_.up().size;
    ready.down_bytes = contents_.down().size;
  }
  return ready;
}

contract::Counts GrpcServer::counts() const {
  contract::Counts counts;
  for (const auto& lane : lanes_) {
    counts.exchanges += lane->exchanges.get();
    counts.received_bytes += lane->received.get();
    counts.sent_bytes += lane->sent.get();
    counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] += lane->invalid.get();
  }
  counts.connections = acceptor_.open();
  counts.errors[static_cast<std::size_t>(ErrorKind::setup)] = acceptor_.refused();
  return counts;
}

}  // namespace netdyno::grpc_worker
