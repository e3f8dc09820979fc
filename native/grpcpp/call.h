// How one slot makes exchanges: by an RPC for each. An exchange in chunks has a stream of its own.
//
// Layer: above payload. Only the thread of its queue uses a call and what it points at. When a call
// is destroyed nothing may be in flight, except what was cancelled and whose events the drained
// queue has delivered.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "grpcpp/contents.h"
#include "grpcpp/payload.h"
#include "kit/agenda.h"
#include "kit/contract.h"
#include "kit/system.h"

namespace netdyno::grpc_worker {

/// The target of a completion queue's tag. It is called once for each time that its tag was
/// passed to the library.
class Event {
 public:
  /// ok is the library's result of the operation.
  virtual void happened(bool ok) = 0;

 protected:
  ~Event() = default;
};

/// An event that calls a member function of its owner.
template <class Owner, void (Owner::*handle)(bool)>
class On final : public Event, Pinned {
 public:
  explicit On(Owner& owner) : owner_(owner) {}

  void happened(bool ok) override { (owner_.*handle)(ok); }
  void* tag() { return static_cast<Event*>(this); }

 private:
  Owner& owner_;
};

/// Takes one event and calls it. False when until_ns (of now_ns) passed first, which the
/// library rounds up to a millisecond, or when the queue is shut down and empty.
inline bool take_event(grpc::CompletionQueue& queue, std::int64_t until_ns) {
  // The library's monotonic clock is the one of now_ns.
  const gpr_timespec until = until_ns == Agenda::kNever ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
                                                        : gpr_time_from_nanos(until_ns, GPR_CLOCK_MONOTONIC);
  void* tag = nullptr;
  bool ok = false;
  if (queue.AsyncNext(&tag, &ok, until) != grpc::CompletionQueue::GOT_EVENT) return false;
  static_cast<Event*>(tag)->happened(ok);
  return true;
}

/// Shuts a queue down and calls its remaining events.
inline void drain(grpc::CompletionQueue& queue) {
  queue.Shutdown();
  while (take_event(queue, Agenda::kNever)) {
  }
}

/// The outcome of an exchange.
struct Outcome {
  std::optional<contract::ErrorKind> failed;
  std::string text;           // of the failure, equal for equal causes
  std::string advice;         // behind it
  std::int64_t received = 0;  // payload bytes
  bool lost = false;          // its connection was, as the library's text says
};

/// Waits for an exchange to complete. completed may begin the next exchange at once.
class Waiter {
 public:
  virtual void completed(const Outcome& outcome) = 0;

 protected:
  ~Waiter() = default;
};

/// The outcome of an RPC whose status is not OK, with a hint where a trial's settings can be
/// the cause.
Outcome failure(const grpc::Status& status);
/// The outcome of a reply that is not the expected one.
Outcome failure(const Refused& refused);

class Call {
 public:
  virtual ~Call() = default;

  /// Sends the message up. waiter is called at the end. verify compares the content of the
  /// reply; else it is only decoded as an application does.
  virtual void begin(Waiter& waiter, bool verify) = 0;
  /// Makes exchanges in flight fail soon.
  virtual void cancel() = 0;
  /// Whether the queue has events of this call to deliver.
  virtual bool busy() const = 0;
  /// Frees what the last exchange used. Call it with no exchange in flight.
  virtual void close() {}
};

/// Where a connection's calls go. The method is registered with the channel once, as
/// generated code does.
struct Target {
  std::shared_ptr<grpc::Channel> channel;
  grpc::internal::RpcMethod method;
  grpc::CompletionQueue& queue;
};

/// What all calls of a client share.
struct Plan {
  std::unique_ptr<const Payload> payload;  // of whole messages
  std::unique_ptr<const Chunks> chunks;    // of exchanges that travel in chunks; else null
  std::string method;                      // full name
};

/// A call on the connection of target. Both outlive it.
std::unique_ptr<Call> make_call(const Plan& plan, const Target& target);

/// A stream for each exchange, which ends with its status once no operation is pending.
class ChunkedCall final : public Call {
 public:
  ChunkedCall(const Chunks& chunks, const Target& target)
      : target_(target), chunker_(chunks), joiner_(chunks), read_(*this), written_(*this), finished_(*this) {}

  void begin(Waiter& waiter, bool verify) override;
  void cancel() override {
    if (stream_) context_->TryCancel();
  }
  bool busy() const override { return waiter_ != nullptr; }

 private:
  using Stream = grpc::ClientAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  void on_read(bool ok);
  void on_written(bool ok);
  void write();
  void settle();
  void finished(bool ok);
  void lose_stream();

  const Target& target_;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<Stream> stream_;  // null: none is open
  Waiter* waiter_ = nullptr;        // null: no exchange is in flight
  bool verify_ = false;
  Chunker chunker_;
  Joiner joiner_;
  On<ChunkedCall, &ChunkedCall::on_read> read_;
  On<ChunkedCall, &ChunkedCall::on_written> written_;
  On<ChunkedCall, &ChunkedCall::finished> finished_;
  grpc::Status status_;
  grpc::ByteBuffer chunk_;
  bool writing_ = false;
  bool reading_ = false;
  std::optional<Outcome> refused_;  // the reply is wrong
};

}  // namespace netdyno::grpc_worker
