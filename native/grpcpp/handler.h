// How a server handles RPCs: a handler waits for one RPC of its method, answers it, and
// goes back to its pool.
//
// Layer: above payload, call. Only the thread of its queue uses a loop and its handlers.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>
#include <poll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "grpcpp/call.h"
#include "grpcpp/contents.h"
#include "grpcpp/options.h"
#include "grpcpp/payload.h"
#include "kit/contract.h"
#include "kit/counters.h"
#include "kit/service.h"
#include "kit/sockets.h"
#include "kit/system.h"
#include "kit/worker.h"

namespace netdyno::grpc_worker {

/// The service with only the methods that a trial uses, so that the library passes all
/// others to its generic service. Generated code would have all methods of exchange.proto,
/// and each would need a handler.
class TrialService final : public grpc::Service {
 public:
  using Writer = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;
  using Stream = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  explicit TrialService(const Methods& methods);

  /// Positions of the methods. kChunks exists only if something travels in chunks.
  static constexpr int kUnary = 0;
  static constexpr int kChunks = 1;

  /// The state of the next RPC of method kUnary. Its tag is delivered when it arrives.
  struct Rpc {
    grpc::ServerContext context;
    grpc::ByteBuffer request;
    Writer writer{&context};
  };
  void await(Rpc& rpc, grpc::ServerCompletionQueue& queue, void* tag) {
    RequestAsyncUnary(kUnary, &rpc.context, &rpc.request, &rpc.writer, &queue, &queue, tag);
  }
  /// The state of the next RPC of method kChunks.
  struct StreamRpc {
    grpc::ServerContext context;
    Stream stream{&context};
  };
  void await(StreamRpc& rpc, grpc::ServerCompletionQueue& queue, void* tag) {
    RequestAsyncBidiStreaming(kChunks, &rpc.context, &rpc.stream, &queue, &queue, tag);
  }

 private:
  std::vector<std::string> names_;  // the library keeps their addresses
};

/// What all loops of a server share.
struct Service {
  explicit Service(const Methods& methods) : trial(methods) {}

  TrialService trial;
  grpc::AsyncGenericService others;
  std::unique_ptr<const Payload> payload;  // of whole messages
  std::unique_ptr<const Chunks> chunks;    // null when nothing travels in chunks
  bool joins = false;                      // the message up comes in chunks
  std::int64_t down_bytes = 0;             // of a reply
  std::string refusal;                     // the error text for other methods
  std::unique_ptr<netdyno::Service> work;  // null for none
  std::atomic<bool> stopping{false};
};

class ServerLoop;

/// The handlers of one kind of one loop.
template <class Handler>
class HandlerPool {
 public:
  explicit HandlerPool(ServerLoop& loop) : loop_(loop) {}

  /// Makes one more handler wait for an RPC.
  void await() {
    if (idle_.empty()) idle_.push_back(all_.emplace_back(std::make_unique<Handler>(loop_)).get());
    Handler* handler = idle_.back();
    idle_.pop_back();
    handler->await();
  }
  void release(Handler& handler) { idle_.push_back(&handler); }
  /// Handlers for which the queue still has events.
  std::size_t busy() const { return all_.size() - idle_.size(); }

 private:
  ServerLoop& loop_;
  std::vector<std::unique_ptr<Handler>> all_;
  std::vector<Handler*> idle_;
};

/// The work of an exchange of a handler, which has worked called when it is done.
template <class Handler>
class Working {
 public:
  explicit Working(Handler& handler, ServerLoop& loop) : handler_(handler), loop_(loop), rang_(*this) {}
  void begin();

 private:
  void rest();
  void rang(bool);

  Handler& handler_;
  ServerLoop& loop_;
  std::int64_t until_ns_ = 0;
  grpc::Alarm alarm_;
  On<Working, &Working::rang> rang_;
};

class UnaryHandler {
 public:
  explicit UnaryHandler(ServerLoop& loop)
      : loop_(loop), arrived_(*this), finished_(*this), working_(*this, loop) {}
  void await();

 private:
  friend class Working<UnaryHandler>;
  void arrived(bool ok);
  void worked();
  void finished(bool ok);

  ServerLoop& loop_;
  On<UnaryHandler, &UnaryHandler::arrived> arrived_;
  On<UnaryHandler, &UnaryHandler::finished> finished_;
  std::optional<TrialService::Rpc> rpc_;
  Working<UnaryHandler> working_;
  std::int64_t up_ = 0;  // payload bytes of the request
};

/// Handles one exchange in chunks.
class ChunkHandler {
 public:
  explicit ChunkHandler(ServerLoop& loop);
  void await();

 private:
  void arrived(bool ok);
  friend class Working<ChunkHandler>;
  void read(bool ok);
  void answer();
  void worked();
  void write();
  void written(bool ok);
  void refuse(const Refused& refused);
  void finished(bool ok);

  ServerLoop& loop_;
  On<ChunkHandler, &ChunkHandler::arrived> arrived_;
  On<ChunkHandler, &ChunkHandler::read> read_;
  On<ChunkHandler, &ChunkHandler::written> written_;
  On<ChunkHandler, &ChunkHandler::finished> finished_;
  std::optional<TrialService::StreamRpc> rpc_;
  grpc::ByteBuffer chunk_;
  Joiner joiner_;
  Chunker chunker_;
  Working<ChunkHandler> working_;
  std::int64_t up_ = 0;
};

/// An RPC of a method that the trial does not use.
struct OtherRpc {
  grpc::GenericServerContext context;
  grpc::GenericServerAsyncReaderWriter stream{&context};
};

/// Refuses methods that the trial does not use, and names those that it uses.
class OtherHandler {
 public:
  explicit OtherHandler(ServerLoop& loop) : loop_(loop), arrived_(*this), finished_(*this) {}
  void await();

 private:
  void arrived(bool ok);
  void finished(bool ok);

  ServerLoop& loop_;
  On<OtherHandler, &OtherHandler::arrived> arrived_;
  On<OtherHandler, &OtherHandler::finished> finished_;
  std::optional<OtherRpc> rpc_;
};

/// One thread of a server: its queue, its handlers and their counters.
class ServerLoop {
 public:
  ServerLoop(Service& service, std::unique_ptr<grpc::ServerCompletionQueue> queue);

  /// Makes handlers of every kind wait. Call it once the server has started.
  void begin();
  /// Handles RPCs until the server shuts down and every handler is idle. No operation may
  /// begin on a queue that is shut down.
  void run();

  /// Counts an exchange, just before its reply is sent: payload bytes up and down.
  void count(std::int64_t up, std::int64_t down);
  /// Counts an invalid request, and returns the status for the client.
  grpc::Status refuse(const Refused& refused);
  /// Makes another handler wait instead of one that an RPC has reached.
  template <class Handler>
  void replace(HandlerPool<Handler>& pool) {
    if (!service.stopping) pool.await();
  }

  Service& service;
  const std::unique_ptr<grpc::ServerCompletionQueue> queue;
  HandlerPool<UnaryHandler> unary;
  HandlerPool<ChunkHandler> chunks;
  HandlerPool<OtherHandler> others;

  // Any thread may read them.
  Sum exchanges;
  Sum received;
  Sum sent;
  Sum invalid;
};

/// Connections by their descriptors. The library owns these, and shuts each down before it
/// closes it.
class OpenConnections {
 public:
  /// Call it before the library gets fd. A descriptor number that is used again is the same
  /// entry.
  void add(int fd);
  /// How many are open: one system call, about 70 ns for each.
  std::int64_t count();

 private:
  std::mutex mutex_;
  std::vector<pollfd> polled_;
  std::vector<bool> known_;  // by descriptor: whether it is polled
};

/// Accepts a server's connections, on a thread of its own, and passes them to the library, which
/// can neither refuse a client by its address nor report how many connections are open.
class Acceptor : Pinned {
 public:
  /// Takes over an accepted descriptor, with that of its listener.
  using Admit = std::function<void(int listener, int fd)>;

  /// Listens. Throws Failure{setup} when it cannot.
  explicit Acceptor(const contract::Setup& setup);
  ~Acceptor() { stop(); }

  /// Begins to accept. Closes connections that setup.allow does not list.
  void start(Admit admit);
  /// Accepts no more.
  void stop();

  const std::vector<std::string>& addresses() const { return addresses_; }
  /// Who may connect, and who was refused.
  const Allowed& allowed() const { return allowed_; }
  /// Connections open now. Any thread.
  std::int64_t open() { return connections_.count(); }
  /// Accepts that failed. Any thread.
  std::int64_t refused() const { return refused_; }

 private:
  void loop();
  void accept(int listener);

  Allowed allowed_;
  std::vector<Descriptor> listeners_;
  std::vector<std::string> addresses_;
  Descriptor wake_;
  Admit admit_;
  OpenConnections connections_;
  std::atomic<std::int64_t> refused_{0};
  std::thread thread_;
};

/// The server of transport grpcpp: service netdyno.v1.Exchange by asynchronous calls, with a thread and a
/// completion queue for each loop. The library assigns each accepted connection to a loop.
///
/// Serves from construction to destruction.
class GrpcServer : public Server, Pinned {
 public:
  /// Listens; throws Failure{setup} when it cannot.
  explicit GrpcServer(const contract::Setup& setup);
  ~GrpcServer() override;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  void start(const contract::Setup& setup);

  Contents contents_;
  contract::Options options_;
  Service service_;
  mutable Acceptor acceptor_;  // counting open connections removes closed ones
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> admit_;
  std::vector<std::unique_ptr<ServerLoop>> loops_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::thread> threads_;
};

}  // namespace netdyno::grpc_worker
