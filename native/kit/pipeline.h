// The client's flow of wire echo: it sends messages of one size and receives the same
// bytes in order.
//
// Layer: above flow, flights, echo.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kit/echo.h"
#include "kit/flights.h"
#include "kit/flow.h"

namespace netdyno {

class Pipeline final : public Flow {
 public:
  /// payload outlives the pipeline.
  Pipeline(const EchoPayload& payload, Flights flights) : payload_(payload), flights_(flights) {}

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override { flights_.queue(slot); }

  bool unsent() const override { return rest_ > 0 || flights_.waiting() > 0; }
  /// As many copies of the message as are due, in one piece.
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  /// Each message is contiguous in it.
  std::span<char> read_buffer() override { return {buffer_.get() + filled_, capacity_ - filled_}; }
  void received(std::size_t n, std::int64_t now) override;

  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  const EchoPayload& payload_;
  Flights flights_;
  std::size_t rest_ = 0;  // unwritten bytes of the last message that was begun
  std::size_t have_ = 0;  // bytes received of the oldest exchange in flight
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace netdyno
