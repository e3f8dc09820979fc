// Calls by streams: StreamCall keeps one stream open, with a message each way for each
// exchange. ChunkedCall opens a stream for each exchange, whose content travels in chunks.
//
// Layer: behind call.h. Threads: as Call.
#pragma once

#include "grpcpp/call.h"

namespace netdyno::grpc_worker {

/// What both share: the stream and its end, which is the status and the wait for pending
/// operations.
class StreamCallBase : public Call {
 public:
  void cancel() override {
    if (stream_) context_->TryCancel();
  }

 protected:
  using Stream = grpc::ClientAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

  explicit StreamCallBase(const Target& target) : target_(target), finished_(*this) {}

  /// Prepares a stream. corked sends its headers together with its first message.
  void prepare(bool corked);
  /// Asks for the status, which ends the exchange once no operation is pending.
  void finish();
  /// Ends the exchange, and the stream unless it stays.
  void complete(const Outcome& outcome, bool stays);
  /// The status arrived, and no operation is pending.
  virtual void ended(const grpc::Status& status) = 0;
  void lose_stream();

  const Target& target_;
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<Stream> stream_;  // null: none is open
  Waiter* waiter_ = nullptr;        // null: no exchange is in flight
  bool verify_ = false;

 private:
  void finished(bool);

  On<StreamCallBase, &StreamCallBase::finished> finished_;
  grpc::Status status_;
};

/// One stream that stays open.
class StreamCall final : public StreamCallBase {
 public:
  StreamCall(const Payload& payload, const Target& target)
      : StreamCallBase(target), payload_(payload), opened_(*this), read_(*this), written_(*this) {}

  void open() override;
  void begin(Waiter& waiter, bool verify) override;
  bool busy() const override { return opening_ || waiter_ != nullptr; }
  void close() override;

 private:
  void on_opened(bool ok);
  void on_read(bool ok);
  void on_written(bool ok);
  void exchange();
  /// Goes on once both directions are done.
  void settle();
  void ended(const grpc::Status& status) override;

  const Payload& payload_;
  On<StreamCall, &StreamCall::on_opened> opened_;
  On<StreamCall, &StreamCall::on_read> read_;
  On<StreamCall, &StreamCall::on_written> written_;
  grpc::ByteBuffer reply_;
  bool opening_ = false;
  bool writing_ = false;
  bool reading_ = false;
  std::optional<Outcome> outcome_;  // waits for settle
};

/// A stream for each exchange.
class ChunkedCall final : public StreamCallBase {
 public:
  ChunkedCall(const Chunks& chunks, const Target& target)
      : StreamCallBase(target), chunker_(chunks), joiner_(chunks), read_(*this), written_(*this) {}

  void begin(Waiter& waiter, bool verify) override;
  bool busy() const override { return waiter_ != nullptr; }

 private:
  void on_read(bool ok);
  void on_written(bool ok);
  void write();
  void settle();
  void ended(const grpc::Status& status) override;

  Chunker chunker_;
  Joiner joiner_;
  On<ChunkedCall, &ChunkedCall::on_read> read_;
  On<ChunkedCall, &ChunkedCall::on_written> written_;
  grpc::ByteBuffer chunk_;
  bool writing_ = false;
  bool reading_ = false;
  std::optional<Outcome> refused_;  // the reply is wrong
};

}  // namespace netdyno::grpc_worker
