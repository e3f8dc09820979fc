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
      : payload_(*plan.payload),
        draws_(plan.draws ? &*plan.draws : nullptr),
        target_(target),
        finished_(*this) {}

  void begin(Waiter& waiter, bool verify, const Draw& sizes) override {
    waiter_ = &waiter;
    terms_ = {verify, sizes.down};
    reader_.reset();  // before the context, whose memory it uses
    context_.emplace();
    if (draws_ != nullptr) describe(sizes);
    reader_.reset(grpc::internal::ClientAsyncResponseReaderHelper::Create<grpc::ByteBuffer>(
        target_.channel.get(), &target_.queue, target_.method, &*context_, payload_.outgoing(sizes.up)));
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
        outcome.received = payload_.take(reply_, terms_);
      } catch (const Refused& refused) {
        outcome = failure(refused);
      }
    }
    std::exchange(waiter_, nullptr)->completed(outcome);
  }

  /// Says with the request what only this one has.
  void describe(const Draw& draw) {
    if (draws_->asks()) context_->AddMetadata(kDownHeader, std::to_string(draw.down));
    // The library's monotonic clock is the one of now_ns.
    if (const std::int64_t most = draws_->deadline_ns(draw); most > 0)
      context_->set_deadline(gpr_time_from_nanos(now_ns() + most, GPR_CLOCK_MONOTONIC));
  }

  const Payload& payload_;
  const Draws* draws_;  // null: exchanges are alike
  const Target& target_;
  On<UnaryCall, &UnaryCall::finished> finished_;
  Waiter* waiter_ = nullptr;  // null: nothing is in flight
  Judge::Terms terms_;
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
  if (plan.streams) return std::make_unique<StreamCall>(*plan.payload, target);
  return std::make_unique<UnaryCall>(plan, target);
}

void StreamCallBase::prepare(bool corked) {
  lose_stream();
  context_.emplace();
  if (corked) context_->set_initial_metadata_corked(true);
  stream_.reset(grpc::internal::ClientAsyncReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
      target_.channel.get(), &target_.queue, target_.method, &*context_, false, nullptr));
}

void StreamCallBase::lose_stream() {
  stream_.reset();  // before the context, whose memory it uses
  context_.reset();
}

void StreamCallBase::finish() { stream_->Finish(&status_, finished_.tag()); }

void StreamCallBase::finished(bool) { ended(status_); }

void StreamCallBase::complete(const Outcome& outcome, bool stays) {
  if (!stays) lose_stream();
  if (waiter_ != nullptr) std::exchange(waiter_, nullptr)->completed(outcome);
}

void StreamCall::open() {
  prepare(false);
  opening_ = true;
  stream_->StartCall(opened_.tag());
}

void StreamCall::begin(Waiter& waiter, bool verify, const Draw& sizes) {
  waiter_ = &waiter;
  verify_ = verify;
  sizes_ = sizes;
  if (!stream_) open();
  if (!opening_) exchange();
}

void StreamCall::exchange() {
  writing_ = reading_ = true;
  stream_->Write(payload_.outgoing(sizes_.up), written_.tag());
  stream_->Read(&reply_, read_.tag());
}

/// The library handles opening and the first write in one operation at a time, so an
/// exchange that was begun meanwhile waits for this. If the stream did not open, that
/// exchange fails.
void StreamCall::on_opened(bool) {
  opening_ = false;
  if (waiter_ != nullptr) exchange();
}

void StreamCall::on_written(bool) {
  writing_ = false;
  settle();  // if a write failed, the read fails too
}

void StreamCall::on_read(bool ok) {
  reading_ = false;
  if (ok) {
    outcome_.emplace();
    try {
      outcome_->received = payload_.take(reply_, {verify_, sizes_.down});
    } catch (const Refused& refused) {
      *outcome_ = failure(refused);
    }
  }
  settle();
}

void StreamCall::settle() {
  if (writing_ || reading_) return;
  if (!outcome_) return finish();
  const Outcome outcome = *std::exchange(outcome_, std::nullopt);
  complete(outcome, true);
}

void StreamCall::ended(const grpc::Status& status) {
  if (!status.ok()) return complete(failure(status), false);
  complete({ErrorKind::invalid, "the server ended the stream before its reply was complete", "", 0, false},
           false);
}

void StreamCall::close() {
  if (!stream_ || opening_) return;
  context_->TryCancel();
  lose_stream();
}

void ChunkedCall::begin(Waiter& waiter, bool verify, const Draw&) {
  waiter_ = &waiter;
  verify_ = verify;
  refused_.reset();
  chunker_.restart();
  joiner_.restart();
  prepare(true);
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
  if (!writing_ && !reading_) finish();
}

void ChunkedCall::ended(const grpc::Status& status) {
  Outcome outcome;
  if (refused_) {
    outcome = *refused_;
  } else if (!status.ok()) {
    outcome = failure(status);
  } else {
    try {
      outcome.received = joiner_.take({verify_});
    } catch (const Refused& refused) {
      outcome = failure(refused);
    }
  }
  complete(outcome, false);
}

}  // namespace netdyno::grpc_worker
