#include "grpcpp/stream_call.h"

#include <grpcpp/grpcpp.h>

#include <utility>

namespace netdyno::grpc_worker {

using contract::ErrorKind;

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

void StreamCall::begin(Waiter& waiter, bool verify) {
  waiter_ = &waiter;
  verify_ = verify;
  if (!stream_) open();
  if (!opening_) exchange();
}

void StreamCall::exchange() {
  writing_ = reading_ = true;
  stream_->Write(payload_.outgoing(), written_.tag());
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
      outcome_->received = verify_ ? payload_.verify(reply_) : payload_.take(reply_);
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
  complete({ErrorKind::invalid, "the server ended the stream before its reply was complete", "", 0}, false);
}

void StreamCall::close() {
  if (!stream_ || opening_) return;
  context_->TryCancel();
  lose_stream();
}

void ChunkedCall::begin(Waiter& waiter, bool verify) {
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
      outcome.received = verify_ ? joiner_.verify() : joiner_.take();
    } catch (const Refused& refused) {
      outcome = failure(refused);
    }
  }
  complete(outcome, false);
}

}  // namespace netdyno::grpc_worker
