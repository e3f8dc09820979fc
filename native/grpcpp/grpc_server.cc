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

GrpcServer::GrpcServer(const contract::Setup& setup)
    : contents_(setup.exchange),
      options_(effective(setup, contents_)),
      service_(methods_of(setup.exchange)),
      acceptor_(setup) {
  const Direction direction{contents_.down(), contents_.up(), "request"};
  const Methods methods = methods_of(setup.exchange);
  const Chunking chunking = chunking_of(setup);
  service_.payload = make_payload(direction, chunking.raw);
  if (!methods.chunks.empty()) service_.chunks = std::make_unique<Chunks>(direction, chunking);
  service_.joins = receives_chunks(setup);
  service_.down_bytes = contents_.down().size;
  service_.refusal = refusal(setup.exchange);
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
    loops_.push_back(std::make_unique<ServerLoop>(service_, builder.AddCompletionQueue()));
  }
  server_ = builder.BuildAndStart();
  if (!server_) throw Failure(ErrorKind::setup, "start the server: gRPC says why on stderr");
  for (std::size_t i = 0; i < loops_.size(); i++) {
    loops_[i]->begin();
    threads_.emplace_back([this, i] {
      name_thread("loop " + std::to_string(i));
      loops_[i]->run();
    });
  }
  acceptor_.start([this](int listener, int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = fd;
    admit_->HandleNewConnection(&connection);
  });
}

/// The shutdown ends every RPC and every wait for one, so that the loops end by themselves.
/// Their queues must be drained after that.
GrpcServer::~GrpcServer() {
  acceptor_.stop();
  service_.stopping = true;
  server_->Shutdown(gpr_inf_past(GPR_CLOCK_MONOTONIC));
  for (std::thread& thread : threads_) thread.join();
  for (const auto& loop : loops_) drain(*loop->queue);
}

contract::Ready GrpcServer::ready() const {
  contract::Ready ready;
  ready.addresses = acceptor_.addresses();
  ready.options = options_;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  if (contents_.structured()) {
    ready.up_bytes = contents_.up().size;
    ready.down_bytes = contents_.down().size;
  }
  return ready;
}

contract::Counts GrpcServer::counts() const {
  contract::Counts counts;
  for (const auto& loop : loops_) {
    counts.exchanges += loop->exchanges.get();
    counts.received_bytes += loop->received.get();
    counts.sent_bytes += loop->sent.get();
    counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] += loop->invalid.get();
  }
  counts.connections = acceptor_.open();
  counts.errors[static_cast<std::size_t>(ErrorKind::setup)] = acceptor_.refused();
  return counts;
}

}  // namespace netdyno::grpc_worker
