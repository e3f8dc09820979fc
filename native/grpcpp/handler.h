// What a server does with one RPC: a handler waits for one of its method,
// answers it, and rests until it is needed again.
//
// Layer: above form, chunk, queue. A lane with all its handlers belongs to the
// thread of its queue.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grpcpp/chunk.h"
#include "grpcpp/form.h"
#include "grpcpp/options.h"
#include "grpcpp/queue.h"
#include "kit/tally.h"

namespace netdyno::grpc_worker {

/// The service with the methods that serve a trial and no others, so that the
/// library hands the rest to its generic service. Generated code has all methods
/// of exchange.proto, each to be answered by somebody.
class TrialService final : public grpc::Service {
 public:
  using Writer = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;
  using Stream = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  explicit TrialService(const Methods& methods);

  /// Positions of the methods; kChunks exists when something travels in chunks.
  static constexpr int kUnary = 0;
  static constexpr int kTalk = 1;
  static constexpr int kChunks = 2;

  /// Where the next RPC of method kUnary goes; tag tells when it has come.
  struct Room {
    grpc::ServerContext context;
    grpc::ByteBuffer request;
    Writer writer{&context};
  };
  void expect(Room& room, grpc::ServerCompletionQueue& queue, void* tag) {
    RequestAsyncUnary(kUnary, &room.context, &room.request, &room.writer, &queue, &queue, tag);
  }
  /// Where the next RPC of a method that is a stream goes.
  struct StreamRoom {
    grpc::ServerContext context;
    Stream stream{&context};
  };
  void expect(int method, StreamRoom& room, grpc::ServerCompletionQueue& queue, void* tag) {
    RequestAsyncBidiStreaming(method, &room.context, &room.stream, &queue, &queue, tag);
  }

 private:
  std::vector<std::string> names_;  // the library keeps their addresses
};

/// What all lanes of a server have in common.
struct Service {
  explicit Service(const Methods& methods) : trial(methods) {}

  TrialService trial;
  grpc::AsyncGenericService others;
  std::unique_ptr<const Form> form;      // of whole messages
  std::unique_ptr<const Chunks> chunks;  // null when nothing travels in chunks
  bool joins = false;                    // the message up comes in chunks
  std::int64_t down_bytes = 0;
  std::string refusal;  // of a method that does not serve the trial
  std::atomic<bool> stopping{false};
};

class Lane;

/// The handlers of one kind on one lane.
template <class Handler>
class Crew {
 public:
  explicit Crew(Lane& lane) : lane_(lane) {}

  /// Has one more of them wait for an RPC.
  void expect() {
    if (resting_.empty()) resting_.push_back(all_.emplace_back(std::make_unique<Handler>(lane_)).get());
    Handler* handler = resting_.back();
    resting_.pop_back();
    handler->expect();
  }
  void rest(Handler& handler) { resting_.push_back(&handler); }
  /// Handlers that the queue is still to tell something.
  std::size_t out() const { return all_.size() - resting_.size(); }

 private:
  Lane& lane_;
  std::vector<std::unique_ptr<Handler>> all_;
  std::vector<Handler*> resting_;
};

class UnaryHandler {
 public:
  explicit UnaryHandler(Lane& lane) : lane_(lane), arrived_(*this), finished_(*this) {}
  void expect();

 private:
  void arrived(bool ok);
  void finished(bool ok);

  Lane& lane_;
  On<UnaryHandler, &UnaryHandler::arrived> arrived_;
  On<UnaryHandler, &UnaryHandler::finished> finished_;
  std::optional<TrialService::Room> room_;
};

/// Answers every message with one until the client has finished.
class TalkHandler {
 public:
  explicit TalkHandler(Lane& lane)
      : lane_(lane), arrived_(*this), read_(*this), written_(*this), finished_(*this) {}
  void expect();

 private:
  void arrived(bool ok);
  void read(bool ok);
  void written(bool ok);
  void finished(bool ok);

  Lane& lane_;
  On<TalkHandler, &TalkHandler::arrived> arrived_;
  On<TalkHandler, &TalkHandler::read> read_;
  On<TalkHandler, &TalkHandler::written> written_;
  On<TalkHandler, &TalkHandler::finished> finished_;
  std::optional<TrialService::StreamRoom> room_;
  grpc::ByteBuffer request_;
};

/// Takes one exchange in chunks.
class ChunkHandler {
 public:
  explicit ChunkHandler(Lane& lane);
  void expect();

 private:
  void arrived(bool ok);
  void read(bool ok);
  void answer();
  void write();
  void written(bool ok);
  void refuse(const Refused& refused);
  void finished(bool ok);

  Lane& lane_;
  On<ChunkHandler, &ChunkHandler::arrived> arrived_;
  On<ChunkHandler, &ChunkHandler::read> read_;
  On<ChunkHandler, &ChunkHandler::written> written_;
  On<ChunkHandler, &ChunkHandler::finished> finished_;
  std::optional<TrialService::StreamRoom> room_;
  grpc::ByteBuffer chunk_;
  Joiner joiner_;
  Cutter cutter_;
};

/// Refuses methods that do not serve the trial, and says which do.
class OtherHandler {
 public:
  explicit OtherHandler(Lane& lane) : lane_(lane), arrived_(*this), finished_(*this) {}
  void expect();

 private:
  struct Room {
    grpc::GenericServerContext context;
    grpc::GenericServerAsyncReaderWriter stream{&context};
  };

  void arrived(bool ok);
  void finished(bool ok);

  Lane& lane_;
  On<OtherHandler, &OtherHandler::arrived> arrived_;
  On<OtherHandler, &OtherHandler::finished> finished_;
  std::optional<Room> room_;
};

/// One thread of a server: its queue, its handlers and what they counted.
class Lane {
 public:
  Lane(Service& service, std::unique_ptr<grpc::ServerCompletionQueue> queue);

  /// Has handlers of every kind wait; once the server has started.
  void begin();
  /// Handles RPCs until the server shuts down and every handler rests: nothing
  /// may be begun on a queue that is shut down.
  void run();

  /// Counts an exchange whose reply is about to be sent.
  void count(std::int64_t bytes);
  /// Counts what a client sent wrongly, and returns what it is told.
  grpc::Status refuse(const Refused& refused);
  /// Has another handler wait in the place of one that an RPC has reached.
  template <class Handler>
  void replace(Crew<Handler>& crew) {
    if (!service.stopping) crew.expect();
  }

  Service& service;
  const std::unique_ptr<grpc::ServerCompletionQueue> queue;
  Crew<UnaryHandler> unary;
  Crew<TalkHandler> talk;
  Crew<ChunkHandler> chunks;
  Crew<OtherHandler> others;

  // Any thread may read them.
  Sum exchanges;
  Sum received;
  Sum sent;
  Sum invalid;
};

}  // namespace netdyno::grpc_worker
