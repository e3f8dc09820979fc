// How the content of exchanges travels in the bodies of streams at one end: as the one message
// of a call, or as messages that follow one another. In chunks: chunks.h.
//
// Layer: above payload, h2/exchange. Immutable after construction: any thread may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "h2/exchange.h"
#include "h2grpc/payload.h"

namespace netdyno::h2grpc {

class Body {
 public:
  Body() = default;
  virtual ~Body() = default;
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  /// Whether exchanges follow one another on a stream.
  virtual bool stays() const { return false; }

  /// Begins what this end sends in an exchange: sets its first piece.
  virtual void begin(h2::Outgoing& out) const = 0;
  /// Sets the next piece, where there is more.
  virtual void next(h2::Outgoing& /*out*/) const {}

  /// Takes bytes of the peer's body. False when they cannot be of a right one: fault and why
  /// are set.
  virtual bool data(h2::Incoming& in, std::string_view bytes) const = 0;
  /// What a body, or an exchange that is complete, was found to be. Without a fault alone.
  virtual Taken end(const h2::Incoming& in) const = 0;
  /// What is wrong with the content of what was taken; empty if nothing is.
  virtual std::string compare(const h2::Incoming& in) const = 0;
};

/// Notes what is wrong with a body; false.
bool refuse(h2::Incoming& in, Code code, std::string why);
/// Notes that a message is longer than the most that this end receives; false.
bool refuse_longer(h2::Incoming& in, const std::string& incoming, std::int64_t most);

/// The message of a unary call.
class UnaryBody final : public Body {
 public:
  /// most is the longest message that is received, in bytes. The payload outlives it.
  UnaryBody(const Payload& payload, std::int64_t most) : payload_(payload), most_(most) {}

  void begin(h2::Outgoing& out) const override { out.piece = payload_.outgoing(out.room); }
  bool data(h2::Incoming& in, std::string_view bytes) const override;
  Taken end(const h2::Incoming& in) const override { return payload_.take(in.kept); }
  std::string compare(const h2::Incoming& in) const override {
    return payload_.compare(std::string_view(in.kept).substr(kPrefix));
  }

 private:
  const Payload& payload_;
  std::int64_t most_;
};

/// The messages of exchanges that follow one another.
class TalkBody final : public Body {
 public:
  /// one: this end has one exchange at a time, so that a second message is wrong. Else it
  /// takes messages as they come. The rest is as UnaryBody has it.
  TalkBody(const Payload& payload, std::int64_t most, bool one) : payload_(payload), most_(most), one_(one) {}

  bool stays() const override { return true; }
  void begin(h2::Outgoing& out) const override { out.piece = payload_.outgoing(out.room); }
  bool data(h2::Incoming& in, std::string_view bytes) const override;
  Taken end(const h2::Incoming& in) const override;
  std::string compare(const h2::Incoming& in) const override {
    return payload_.compare(std::string_view(in.kept).substr(kPrefix));
  }

 private:
  const Payload& payload_;
  std::int64_t most_;
  bool one_;
};

}  // namespace netdyno::h2grpc
