// Plain gRPC C++, asynchronous with the generated service, one completion queue:
// the peer of the grpcpp worker. It is written as well as the worker: RPCs wait in advance,
// and their memory is used again.
//
//   bare-grpcpp server PORT
//   bare-grpcpp client PORT CONNECTIONS SIZE SECONDS
//
// Unary RPCs of service netdyno.v1.Exchange; the server answers with the request's
// content.
#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exchange.grpc.pb.h"
#include "peers/bare.h"

namespace {

using netdyno::v1::Block;
using netdyno::v1::Exchange;

constexpr int kMaxMessage = 1 << 30;

/// Waits for one RPC after the other and answers it.
class Answer {
 public:
  Answer(Exchange::AsyncService& service, grpc::ServerCompletionQueue& queue)
      : service_(service), queue_(queue) {
    wait();
  }

  void proceed(bool ok) {
    if (!ok) std::exit(1);
    if (answered_) return wait();
    answered_ = true;
    reply_.set_content(request_->content());
    writer_->Finish(reply_, grpc::Status::OK, this);
  }

 private:
  void wait() {
    answered_ = false;
    writer_.reset();
    context_.emplace();
    request_.emplace();
    writer_.emplace(&*context_);
    service_.RequestUnary(&*context_, &*request_, &*writer_, &queue_, &queue_, this);
  }

  Exchange::AsyncService& service_;
  grpc::ServerCompletionQueue& queue_;
  std::optional<grpc::ServerContext> context_;
  std::optional<Block> request_;
  Block reply_;
  std::optional<grpc::ServerAsyncResponseWriter<Block>> writer_;
  bool answered_ = false;
};

void run_server(const bare::Arguments& arguments) {
  Exchange::AsyncService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(arguments.port), grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  builder.SetMaxReceiveMessageSize(kMaxMessage);
  const auto queue = builder.AddCompletionQueue();
  const auto server = builder.BuildAndStart();
  if (!server) std::exit(1);
  std::vector<std::unique_ptr<Answer>> answers;
  for (int i = 0; i < 1024; i++) answers.push_back(std::make_unique<Answer>(service, *queue));
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<Answer*>(tag)->proceed(ok);
}

/// One channel with one RPC in flight.
class Connection {
 public:
  Connection(const std::shared_ptr<grpc::Channel>& channel, grpc::CompletionQueue& queue,
             const Block& request)
      : stub_(Exchange::NewStub(channel)), queue_(queue), request_(request) {}

  void send() {
    reader_.reset();
    context_.emplace();
    reply_.emplace();
    reader_ = stub_->AsyncUnary(&*context_, request_, &queue_);
    reader_->Finish(&*reply_, &status_, this);
  }

  bool completed() {
    if (!status_.ok() || reply_->content().size() != request_.content().size()) return false;
    exchanges++;
    send();
    return true;
  }

  std::int64_t exchanges = 0;

 private:
  std::unique_ptr<Exchange::Stub> stub_;
  grpc::CompletionQueue& queue_;
  const Block& request_;
  std::optional<grpc::ClientContext> context_;
  std::optional<Block> reply_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Block>> reader_;
  grpc::Status status_;
};

void run_client(const bare::Arguments& arguments) {
  const std::vector<char> content = bare::payload(arguments.size);
  Block request;
  request.set_content(content.data(), content.size());
  grpc::ChannelArguments channel;
  channel.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a TCP connection of its own
  channel.SetMaxReceiveMessageSize(kMaxMessage);
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Connection>> connections;
  for (std::size_t i = 0; i < arguments.connections; i++) {
    const auto made = grpc::CreateCustomChannel("ipv4:127.0.0.1:" + std::to_string(arguments.port),
                                                grpc::InsecureChannelCredentials(), channel);
    if (!made->WaitForConnected(
            gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(10, GPR_TIMESPAN)))) {
      std::exit(1);
    }
    connections.push_back(std::make_unique<Connection>(made, queue, request));
  }
  const gpr_timespec end =
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                   gpr_time_from_nanos(static_cast<std::int64_t>(arguments.seconds * 1e9), GPR_TIMESPAN));
  const bare::Stopwatch watch;
  for (const auto& connection : connections) connection->send();
  void* tag = nullptr;
  bool ok = false;
  while (gpr_time_cmp(gpr_now(GPR_CLOCK_MONOTONIC), end) < 0) {
    if (queue.AsyncNext(&tag, &ok, end) != grpc::CompletionQueue::GOT_EVENT) break;
    if (!static_cast<Connection*>(tag)->completed()) std::exit(1);
  }
  std::int64_t exchanges = 0;
  for (const auto& connection : connections) exchanges += connection->exchanges;
  watch.print(exchanges);
  std::fflush(stdout);
  std::_Exit(0);  // RPCs are in flight; there is nothing to tell them
}

}  // namespace

int main(int argc, char** argv) {
  const bare::Arguments arguments = bare::parse(argc, argv);
  arguments.server ? run_server(arguments) : run_client(arguments);
}
