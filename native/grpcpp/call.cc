#include "grpcpp/call.h"

#include <grpcpp/grpcpp.h>

#include <utility>

namespace netdyno::grpc_worker {

using contract::ErrorKind;

namespace {

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
  UnaryCall(const Plan& plan, const Target& target)
      : payload_(*plan.payload), target_(target), finished_(*this) {}

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
        outcome.received = payload_.take(reply_, verify_);
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
  return {kind_of(code), status_text(code, status.error_message()), hint(code), 0,
          of_a_loss(code, status.error_message())};
}

Outcome failure(const Refused& refused) { return {ErrorKind::invalid, refused.what(), "", 0, false}; }

std::unique_ptr<Call> make_call(const Plan& plan, const Target& target) {
  if (plan.chunks) return std::make_unique<ChunkedCall>(*plan.chunks, target);
  return std::make_unique<UnaryCall>(plan, target);
}

void ChunkedCall::lose_stream() {
  stream_.reset();  // before the context, whose memory it uses
  context_.reset();
}

void ChunkedCall::begin(Waiter& waiter, bool verify) {
  waiter_ = &waiter;
  verify_ = verify;
  refused_.reset();
  chunker_.restart();
  joiner_.restart();
  lose_stream();
  context_.emplace();
  context_->set_initial_metadata_corked(true);  // its headers go with the first message
  stream_.reset(grpc::internal::ClientAsyncReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
      target_.channel.get(), &target_.queue, target_.method, &*context_, false, nullptr));
  stream_->StartCall(nullptr);
  write();
  reading_ = true;
  stream_->Read(&chunk_, read_.tag());
}

/// Writes the next message, and marks the last one.
void ChunkedCall::write() {
  writing_ = true;
  const grpc::ByteBuffer message = chunker_.next();
  if (chunker_.more()) {
    stream_->Write(message, written_.tag());
  } else {
    stream_->WriteLast(message, grpc::WriteOptions(), written_.tag());
  }
}

void ChunkedCall::on_written(bool ok) {
  writing_ = false;
  if (ok && chunker_.more()) return write();
  settle();
}

void ChunkedCall::on_read(bool ok) {
  if (!ok) {
    reading_ = false;
    return settle();
  }
  try {
    if (!refused_) joiner_.add(chunk_);
  } catch (const Refused& refused) {
    refused_ = failure(refused);
    context_->TryCancel();
  }
  stream_->Read(&chunk_, read_.tag());
}

void ChunkedCall::settle() {
  if (!writing_ && !reading_) stream_->Finish(&status_, finished_.tag());
}

void ChunkedCall::finished(bool) {
  Outcome outcome;
  if (refused_) {
    outcome = *refused_;
  } else if (!status_.ok()) {
    outcome = failure(status_);
  } else {
    try {
      outcome.received = joiner_.take(verify_);
    } catch (const Refused& refused) {
      outcome = failure(refused);
    }
  }
  lose_stream();
  if (waiter_ != nullptr) std::exchange(waiter_, nullptr)->completed(outcome);
}

}  // namespace netdyno::grpc_worker
