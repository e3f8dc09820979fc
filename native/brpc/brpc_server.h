// The server of transport brpc; the content of calls at either end, and brpc's worker threads.
//
// Layer: above grpcpp/contents.
#pragma once

#include <brpc/controller.h>
#include <brpc/server.h>
#include <bthread/bthread.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/contents.h"
#include "kit/address.h"
#include "kit/contract.h"
#include "kit/worker.h"

namespace netdyno::brpc_worker {

/// Starts as many worker threads as the setup asks for, but at least 4, which brpc requires
/// (bthread/types.h, BTHREAD_MIN_CONCURRENCY). All bthreads of the process run on them. Call
/// it before any other function of brpc: without it brpc starts 9, and it never ends one.
inline void set_threads(const contract::Setup& setup) {
  constexpr int kLeast = 4;
  bthread_setconcurrency(std::max(kLeast, effective_threads(setup)));
}

/// The content of one end's calls: the message and attachment that it sends, and the check of those that it
/// receives.
///
/// Immutable after construction: any thread may use it. No header here may have the name of one of brpc's,
/// because the compiler looks for <brpc/...> in this directory first.
class Content {
 public:
  /// Throws Failure: setup for invalid values, unsupported for exchanges that this
  /// transport does not carry.
  explicit Content(const contract::Setup& setup);

  /// The method of netdyno.v1.Exchange for the trial's exchange.
  const google::protobuf::MethodDescriptor* method() const { return method_; }
  /// The message that this end sends in every exchange.
  const google::protobuf::Message& outgoing() const { return *out_; }
  /// Appends the attachment that this end sends, without a copy.
  void attach(butil::IOBuf& to) const;

  /// The result of checking a received message.
  struct Taken {
    std::int64_t received = 0;  // payload bytes
    std::string wrong;          // what is wrong with it; empty: nothing
  };
  /// Reads a message as an application does: decoded, with its content contiguous.
  Taken take(const google::protobuf::Message& in, const butil::IOBuf& attachment) const;
  /// Whether a message has the content that netdyno's other end sends.
  bool same(const google::protobuf::Message& in, const butil::IOBuf& attachment) const;

  std::int64_t up_bytes() const { return contents_.up().size; }
  std::int64_t down_bytes() const { return contents_.down().size; }
  /// Whether a codec other than bytes decides the sizes.
  bool structured() const { return contents_.structured(); }

 private:
  const grpc_worker::Content& coming() const { return at_server_ ? contents_.up() : contents_.down(); }
  const grpc_worker::Content& going() const { return at_server_ ? contents_.down() : contents_.up(); }

  grpc_worker::Contents contents_;
  bool at_server_;
  bool attached_;
  const google::protobuf::MethodDescriptor* method_;
  std::unique_ptr<const google::protobuf::Message> out_;
};

/// The descriptor of netdyno.v1.Exchange.
const google::protobuf::ServiceDescriptor* exchange_service();

/// An empty message of a type of exchange.proto.
std::unique_ptr<google::protobuf::Message> empty(const google::protobuf::Descriptor* type);

// A server of baidu_std on brpc::Server, one for each port. brpc accepts connections, runs event loops and
// calls the service on its own threads (bthreads over a pool).

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

  contract::Options options_;
  Exchange exchange_;
  AllowedClients allowed_clients_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<brpc::Server>> servers_;
};

}  // namespace netdyno::brpc_worker
