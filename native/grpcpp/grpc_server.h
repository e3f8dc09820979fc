// The server of transport grpcpp: service netdyno.v1.Exchange by asynchronous calls, with a
// thread and a completion queue for each loop. The library assigns each accepted
// connection to a loop.
//
// Layer: above handler, acceptor. Serves from construction to destruction.
#pragma once

#include <grpcpp/server.h>

#include <memory>
#include <thread>
#include <vector>

#include "grpcpp/acceptor.h"
#include "grpcpp/contents.h"
#include "grpcpp/handler.h"
#include "kit/worker.h"

namespace netdyno::grpc_worker {

class GrpcServer : public Server {
 public:
  /// Listens; throws Failure{setup} when it cannot.
  explicit GrpcServer(const contract::Setup& setup);
  ~GrpcServer() override;
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  void start(const contract::Setup& setup);

  Contents contents_;
  contract::Json options_;
  Service service_;
  mutable Acceptor acceptor_;  // counting open connections removes closed ones
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> admit_;
  std::vector<std::unique_ptr<ServerLoop>> loops_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::thread> threads_;
};

}  // namespace netdyno::grpc_worker
