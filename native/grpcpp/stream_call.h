// Calls that are streams: one that stays, with a message each way for each
// exchange, and one for each exchange, whose content travels in chunks.
//
// Layer: behind call.h. Threads: as Call.
#pragma once

#include "grpcpp/call.h"

namespace netdyno::grpc_worker {

/// What both have in common: the stream and its last two steps, the status and
/// the wait for whatever is still under way.
class StreamCall : public Call {
 public:
  void cancel() override {
    if (stream_) context_->TryCancel();
  }

 protected:
  using Stream = grpc::ClientAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  explicit StreamCall(const Target& target) : target_(target), finished_(*this) {}

  /// Prepares a stream; corked sends its headers together with its first message.
  void prepare(bool corked);
  /// Asks for the status, which ends the exchange once nothing is under way.
  void finish();
  /// Ends the exchange, and with it the stream unless it stays.
  void complete(const Outcome& outcome, bool stays);
  /// The status came, with nothing under way any more.
  virtual void ended(const grpc::Status& status) = 0;
  void lose_stream();

  const Target& target_;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<Stream> stream_;  // null: none is open
  Awaiting* awaiting_ = nullptr;    // null: no exchange is in flight
  bool verify_ = false;

 private:
  void finished(bool);

  On<StreamCall, &StreamCall::finished> finished_;
  grpc::Status status_;
};

/// One stream that stays.
class TalkCall final : public StreamCall {
 public:
  TalkCall(const Form& form, const Target& target)
      : StreamCall(target), form_(form), opened_(*this), read_(*this), written_(*this) {}

  void open() override;
  void begin(Awaiting& awaiting, bool verify) override;
  bool busy() const override { return opening_ || awaiting_ != nullptr; }
  void close() override;

 private:
  void on_opened(bool ok);
  void on_read(bool ok);
  void on_written(bool ok);
  void exchange();
  /// Goes on once both directions are done.
  void settle();
  void ended(const grpc::Status& status) override;

  const Form& form_;
  On<TalkCall, &TalkCall::on_opened> opened_;
  On<TalkCall, &TalkCall::on_read> read_;
  On<TalkCall, &TalkCall::on_written> written_;
  grpc::ByteBuffer reply_;
  bool opening_ = false;
  bool writing_ = false;
  bool reading_ = false;
  std::optional<Outcome> outcome_;  // came, and waits for settle
};

/// A stream for each exchange.
class ChunkedCall final : public StreamCall {
 public:
  ChunkedCall(const Chunks& chunks, const Target& target)
      : StreamCall(target), cutter_(chunks), joiner_(chunks), read_(*this), written_(*this) {}

  void begin(Awaiting& awaiting, bool verify) override;
  bool busy() const override { return awaiting_ != nullptr; }

 private:
  void on_read(bool ok);
  void on_written(bool ok);
  void write();
  void settle();
  void ended(const grpc::Status& status) override;

  Cutter cutter_;
  Joiner joiner_;
  On<ChunkedCall, &ChunkedCall::on_read> read_;
  On<ChunkedCall, &ChunkedCall::on_written> written_;
  grpc::ByteBuffer chunk_;
  bool writing_ = false;
  bool reading_ = false;
  std::optional<Outcome> refused_;  // what came is wrong
};

}  // namespace netdyno::grpc_worker
