#include "grpcpp/stream_call.h"

#include <grpcpp/grpcpp.h>

#include <utility>

namespace netdyno::grpc_worker {

using contract::ErrorKind;

void StreamCall::prepare(bool corked) {
  lose_stream();
  context_.emplace();
  if (corked) context_->set_initial_metadata_corked(true);
  stream_.reset(grpc::internal::ClientAsyncReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
      target_.channel.get(), &target_.queue, target_.method, &*context_, false, nullptr));
}

void StreamCall::lose_stream() {
  stream_.reset();  // before the context, in whose memory it lies
  context_.reset();
}

void StreamCall::finish() { stream_->Finish(&status_, finished_.tag()); }

void StreamCall::finished(bool) { ended(status_); }

void StreamCall::complete(const Outcome& outcome, bool stays) {
  if (!stays) lose_stream();
  if (awaiting_ != nullptr) std::exchange(awaiting_, nullptr)->completed(outcome);
}

void TalkCall::open() {
  prepare(false);
  opening_ = true;
  stream_->StartCall(opened_.tag());
}

void TalkCall::begin(Awaiting& awaiting, bool verify) {
  awaiting_ = &awaiting;
  verify_ = verify;
  if (!stream_) open();
  if (!opening_) exchange();
}

void TalkCall::exchange() {
  writing_ = reading_ = true;
  stream_->Write(form_.outgoing(), written_.tag());
  stream_->Read(&reply_, read_.tag());
}

/// The library keeps opening and writing in one place: an exchange that was begun
/// waited for it. A stream that did not open fails that exchange.
void TalkCall::on_opened(bool) {
  opening_ = false;
  if (awaiting_ != nullptr) exchange();
}

void TalkCall::on_written(bool) {
  writing_ = false;
  settle();  // a write that failed fails the read
}

void TalkCall::on_read(bool ok) {
  reading_ = false;
  if (ok) {
    outcome_.emplace();
    try {
      outcome_->received = verify_ ? form_.verify(reply_) : form_.take(reply_);
    } catch (const Refused& refused) {
      *outcome_ = failure(refused);
    }
  }
  settle();
}

void TalkCall::settle() {
  if (writing_ || reading_) return;
  if (!outcome_) return finish();
  const Outcome outcome = *std::exchange(outcome_, std::nullopt);
  complete(outcome, true);
}

void TalkCall::ended(const grpc::Status& status) {
  if (!status.ok()) return complete(failure(status), false);
  complete({ErrorKind::invalid, "the server ended the stream before its reply was complete", 0}, false);
}

void TalkCall::close() {
  if (!stream_ || opening_) return;
  context_->TryCancel();
  lose_stream();
}

void ChunkedCall::begin(Awaiting& awaiting, bool verify) {
  awaiting_ = &awaiting;
  verify_ = verify;
  refused_.reset();
  cutter_.restart();
  joiner_.restart();
  prepare(true);
  stream_->StartCall(nullptr);
  write();
  reading_ = true;
  stream_->Read(&chunk_, read_.tag());
}

/// Writes the next message; the last one tells the server that it is.
void ChunkedCall::write() {
  writing_ = true;
  const grpc::ByteBuffer message = cutter_.next();
  if (cutter_.more()) {
    stream_->Write(message, written_.tag());
  } else {
    stream_->WriteLast(message, grpc::WriteOptions(), written_.tag());
  }
}

void ChunkedCall::on_written(bool ok) {
  writing_ = false;
  if (ok && cutter_.more()) return write();
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
