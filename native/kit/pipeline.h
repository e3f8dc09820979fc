// A client's end of wire echo: messages of one size go out, the same come back
// in order.
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
  /// Copies of the message, as many as are due, in one piece.
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  /// A message is always contiguous there.
  std::span<char> room() override { return {buffer_.get() + filled_, capacity_ - filled_}; }
  void received(std::size_t n, std::int64_t now) override;

  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  const EchoPayload& payload_;
  Flights flights_;
  std::size_t rest_ = 0;  // unwritten bytes of the message that began last
  std::size_t have_ = 0;  // bytes of the oldest exchange's answer
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace netdyno
