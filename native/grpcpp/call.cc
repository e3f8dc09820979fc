#include "grpcpp/call.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "grpcpp/stream_call.h"

namespace netdyno::grpc_worker {
namespace {

using contract::ErrorKind;

/// Advice for a status that a trial's settings can cause.
std::string hint(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "; option max_message of the receiving end (opt.server.max_message, opt.client.max_message) is "
             "the "
             "limit, 0 raises it to what the exchange needs";
    case grpc::StatusCode::UNIMPLEMENTED:
      return "; both ends need the same exchange";
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::INVALID_ARGUMENT:
      return "; both ends need the same exchange and the same option codec";
    default:
      return "";
  }
}

/// An RPC for each exchange.
class UnaryCall final : public Call {
 public:
  UnaryCall(const Payload& payload, const Target& target)
      : payload_(payload), target_(target), finished_(*this) {}

  void begin(Waiter& waiter, bool verify) override {
    waiter_ = &waiter;
    verify_ = verify;
    reader_.reset();  // before the context, whose memory it uses
    context_.emplace();
    reader_.reset(grpc::internal::ClientAsyncResponseReaderHelper::Create<grpc::ByteBuffer>(
        target_.channel.get(), &target_.queue, target_.method, &*context_, payload_.outgoing()));
    reader_->StartCall();
    reader_->Finish(&reply_, &status_, finished_.tag());
  }

  void cancel() override {
    if (waiter_ != nullptr) context_->TryCancel();
  }

  bool busy() const override { return waiter_ != nullptr; }

  void close() override {
    reader_.reset();
    context_.reset();
  }

 private:
  void finished(bool) {
    Outcome outcome;
    if (!status_.ok()) {
      outcome = failure(status_);
    } else {
      try {
        outcome.received = verify_ ? payload_.verify(reply_) : payload_.take(reply_);
      } catch (const Refused& refused) {
        outcome = failure(refused);
      }
    }
    std::exchange(waiter_, nullptr)->completed(outcome);
  }

  const Payload& payload_;
  const Target& target_;
  On<UnaryCall, &UnaryCall::finished> finished_;
  Waiter* waiter_ = nullptr;  // null: nothing is in flight
  bool verify_ = false;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader_;
  grpc::ByteBuffer reply_;
  grpc::Status status_;
};

}  // namespace

Outcome failure(const grpc::Status& status) {
  const grpc::StatusCode code = status.error_code();
  return {kind_of(code), status_text(code, status.error_message()), hint(code), 0};
}

Outcome failure(const Refused& refused) { return {ErrorKind::invalid, refused.what(), "", 0}; }

std::unique_ptr<Call> make_call(const Plan& plan, const Target& target) {
  if (plan.chunks) return std::make_unique<ChunkedCall>(*plan.chunks, target);
  if (plan.streams) return std::make_unique<StreamCall>(*plan.payload, target);
  return std::make_unique<UnaryCall>(*plan.payload, target);
}

}  // namespace netdyno::grpc_worker
