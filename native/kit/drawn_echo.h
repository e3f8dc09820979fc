// The client's flow of wire echo where sizes are drawn: each message is the beginning of the
// largest, and its answer is as long.
//
// Layer: above echo. Go counterpart: internal/work/wire/flow/client.go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kit/agenda.h"
#include "kit/echo.h"
#include "kit/flow.h"

namespace netdyno {

class DrawnPipeline final : public Flow {
 public:
  /// payload outlives the pipeline.
  DrawnPipeline(const EchoPayload& payload, Flights flights) : payload_(payload), flights_(flights) {}

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override { flights_.queue(slot); }

  bool unsent() const override { return at_ > 0 || flights_.waiting() > 0; }
  /// The rest of one message.
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override { return {buffer_.get(), capacity_}; }
  void received(std::size_t n, std::int64_t now) override;

  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  const EchoPayload& payload_;
  Flights flights_;
  std::size_t at_ = 0;     // bytes written of the message under way; 0 between two
  std::size_t size_ = 0;   // of that message
  std::int64_t have_ = 0;  // bytes received of the oldest exchange in flight
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
};

}  // namespace netdyno
