// A server of baidu_std on brpc::Server, one for each port. brpc accepts connections,
// runs event loops and calls the service on its own threads (bthreads over a pool).
//
// Layer: above brpc_content.
#pragma once

#include <brpc/server.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "brpc/brpc_content.h"
#include "kit/address.h"
#include "kit/worker.h"

namespace netdyno::brpc_worker {

/// netdyno.v1.Exchange: answers the trial's method and counts. It has no generated base
/// class, because exchange.proto does not ask protoc for one.
class Exchange : public google::protobuf::Service {
 public:
  explicit Exchange(const contract::Setup& setup) : content_(setup) {}

  const google::protobuf::ServiceDescriptor* GetDescriptor() override { return exchange_service(); }
  void CallMethod(const google::protobuf::MethodDescriptor* method,
                  google::protobuf::RpcController* controller, const google::protobuf::Message* request,
                  google::protobuf::Message* response, google::protobuf::Closure* done) override;
  const google::protobuf::Message& GetRequestPrototype(
      const google::protobuf::MethodDescriptor* method) const override;
  const google::protobuf::Message& GetResponsePrototype(
      const google::protobuf::MethodDescriptor* method) const override;

  const Content& content() const { return content_; }
  /// Sums so far, without connections.
  contract::Counts counts() const;

 private:
  Content content_;
  std::atomic<std::int64_t> exchanges_{0};
  std::atomic<std::int64_t> received_{0};
  std::atomic<std::int64_t> invalid_{0};
};

/// Accepts the clients of setup.allow. brpc asks at a connection's first request and not
/// before, so a foreign client that sends nothing stays connected and gets no answer.
///
/// brpc may handle that request before it counts the connection (src/brpc/acceptor.cpp).
/// So this waits until brpc has, for 10 ms at most: a client that is ready must find its
/// connections counted.
class AllowedClients : public brpc::Authenticator {
 public:
  /// open returns the connections that brpc counts; any thread calls it once start was called.
  AllowedClients(const std::vector<std::string>& allow, std::function<std::int64_t()> open)
      : allow_(allow.begin(), allow.end()), open_(std::move(open)) {}

  /// Every server listens.
  void start() { started_ = true; }
  int GenerateCredential(std::string*) const override { return 0; }
  int VerifyCredential(const std::string&, const butil::EndPoint& client, brpc::AuthContext*) const override;

 private:
  void wait_until_counted() const;

  std::set<std::string> allow_;
  std::function<std::int64_t()> open_;
  std::atomic<bool> started_{false};
  mutable std::atomic<std::int64_t> expected_{0};  // connections, unless some were closed
};

class BrpcServer : public Server {
 public:
  /// Throws Failure{setup} when it cannot listen.
  explicit BrpcServer(const contract::Setup& setup);
  ~BrpcServer() override;
  BrpcServer(const BrpcServer&) = delete;
  BrpcServer& operator=(const BrpcServer&) = delete;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  void start(const Address& at, const brpc::ServerOptions& options);
  std::int64_t open_connections() const;

  contract::Json options_;
  Exchange exchange_;
  AllowedClients allowed_clients_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<brpc::Server>> servers_;
};

}  // namespace netdyno::brpc_worker
