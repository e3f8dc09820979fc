// How one slot makes exchanges: by an RPC for each, or by a message each way on a stream
// that stays open.
//
// Layer: above payload, chunk, queue. Only the thread of its queue uses a call and what it
// points at. When a call is destroyed nothing may be in flight, except what was cancelled
// and whose events the drained queue has delivered.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/async_unary_call.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "grpcpp/chunk.h"
#include "grpcpp/payload.h"
#include "grpcpp/queue.h"
#include "grpcpp/statuses.h"
#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// The outcome of an exchange.
struct Outcome {
  std::optional<contract::ErrorKind> failed;
  std::string text;           // of the failure, equal for equal causes
  std::string advice;         // behind it
  std::int64_t received = 0;  // payload bytes
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

  /// Opens the stream that stays open between exchanges, if any. Does not wait for it.
  virtual void open() {}
  /// Sends the message up. waiter is called at the end. verify compares the content of the
  /// reply; else it is only decoded as an application does.
  virtual void begin(Waiter& waiter, bool verify) = 0;
  /// Makes exchanges in flight fail soon.
  virtual void cancel() = 0;
  /// Whether the queue has events of this call to deliver.
  virtual bool busy() const = 0;
  /// Closes the stream that stays open. Call it with no exchange in flight.
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
  bool streams = false;                    // a stream for each slot
  std::unique_ptr<const Payload> payload;  // of whole messages
  std::unique_ptr<const Chunks> chunks;    // of exchanges that travel in chunks; else null
  std::string method;                      // full name
};

/// A call on the connection of target. Both outlive it.
std::unique_ptr<Call> make_call(const Plan& plan, const Target& target);

}  // namespace netdyno::grpc_worker
