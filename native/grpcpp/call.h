// One slot's way of making exchanges: an RPC for each, or a message each way on
// a stream that stays.
//
// Layer: above form, chunk, queue. A call and everything it points at belongs to
// the thread of its queue. Nothing may be in flight when it is destroyed, except
// what cancel has cut and the drained queue has told of.
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
#include "grpcpp/form.h"
#include "grpcpp/queue.h"
#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// What became of an exchange.
struct Outcome {
  std::optional<contract::ErrorKind> failed;
  std::string text;           // of the failure
  std::int64_t received = 0;  // payload bytes
};

/// Whoever waits for an exchange to complete; it may begin the next one at once.
class Awaiting {
 public:
  virtual void completed(const Outcome& outcome) = 0;

 protected:
  ~Awaiting() = default;
};

/// The contract's kind of an RPC's status: peer where the connection is gone,
/// timeout where a deadline passed, invalid where the answer is not what was to
/// come. Source: gRPC, Status codes and their use in gRPC (doc/statuscodes.md).
contract::ErrorKind kind_of(grpc::StatusCode code);
/// The outcome of an RPC whose status is not OK, with a hint for those that a
/// trial's settings can cause.
Outcome failure(const grpc::Status& status);
/// The outcome of a reply that is not what had to come.
Outcome failure(const Refused& refused);

class Call {
 public:
  virtual ~Call() = default;

  /// Opens what stays open between exchanges; waits for nothing.
  virtual void open() {}
  /// Sends the message up; awaiting hears of the end. verify compares the
  /// content of the reply, else it is taken as an application does.
  virtual void begin(Awaiting& awaiting, bool verify) = 0;
  /// Makes what is in flight fail soon.
  virtual void cancel() = 0;
  /// Whether the queue is still to tell of anything.
  virtual bool busy() const = 0;
  /// Lets go of what stays open; with no exchange in flight.
  virtual void close() {}
};

/// Where a connection's calls go. A method is registered with the channel once,
/// as generated code does.
struct Target {
  std::shared_ptr<grpc::Channel> channel;
  grpc::internal::RpcMethod method;
  grpc::CompletionQueue& queue;
};

/// What a client's exchanges need, common to all its calls.
struct Plan {
  bool streams = false;                  // a stream for each slot
  std::unique_ptr<const Form> form;      // of whole messages
  std::unique_ptr<const Chunks> chunks;  // of exchanges that travel in chunks; else null
  std::string method;                    // full name
};

/// A call on the connection of target. Both outlive it.
std::unique_ptr<Call> make_call(const Plan& plan, const Target& target);

}  // namespace netdyno::grpc_worker
