// Messages of gRPC, five bytes of prefix and then the encoding, and how they travel in the bodies
// of streams: as the one message of a call, or following one another, or as chunks. They are
// encoded and decoded anew in every exchange by protobuf's generated code, as programs do.
//
// Layer: above grpcpp/contents, h2/exchange. Immutable after construction: any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grpcpp/contents.h"
#include "h2/exchange.h"
#include "kit/system.h"

namespace netdyno::h2grpc {

using grpc_worker::Code;
using grpc_worker::Direction;
using grpc_worker::Judge;
using grpc_worker::Taken;
using enum grpc_worker::Codes::Code;

/// Bytes before each message: whether it is compressed, and its length.
inline constexpr std::size_t kPrefix = 5;
/// Bytes of the message behind a prefix.
std::size_t size_behind(std::string_view prefix);
/// Adds a message with its prefix.
void add_message(std::string& body, std::string_view message);
/// Puts a message with its prefix into room, which only grows, behind what is there. Returns
/// where it ends. The message's size was bounded when the content was made.
std::size_t put_message(std::string& room, std::size_t at, const google::protobuf::Message& message);

class Payload {
 public:
  /// raw: codec bytes travels as the message itself, else in a protobuf Block. The direction's
  /// contents outlive it.
  Payload(const Direction& direction, bool raw);
  /// A client's message as it is.
  Payload(std::string_view message, Judge judge) : judge_(std::move(judge)) { add_message(raw_, message); }

  /// The message that this end sends, with its prefix, perhaps composed in room.
  std::string_view outgoing(std::string& room) const;
  /// Takes the one message of a body.
  Taken take(std::string_view body, bool compares) const;

  const std::string& incoming() const { return judge_.incoming(); }

 private:
  Judge judge_;
  const google::protobuf::Message* message_ = nullptr;  // that is sent; null: codec bytes
  v1::Block block_;
  std::string raw_;  // where it is not empty
};

using grpc_worker::Cutting;

class Body : Pinned {
 public:
  virtual ~Body() = default;

  /// Whether exchanges follow one another on a stream.
  virtual bool stays() const { return false; }

  /// Begins what this end sends in an exchange: sets its first piece.
  virtual void begin(h2::Outgoing& out) const = 0;
  /// Sets the next piece, where there is more.
  virtual void next(h2::Outgoing& /*out*/) const {}

  /// Takes bytes of the peer's body. False when they cannot be of a right one: fault and why
  /// are set.
  virtual bool data(h2::Incoming& in, std::string_view bytes) const = 0;
  /// What a body, or an exchange that is complete, was found to be, and whether its content is
  /// the expected one where that is compared. Without a fault alone.
  virtual Taken end(const h2::Incoming& in, bool compares) const = 0;
};

/// Notes what is wrong with a body; false.
bool refuse(h2::Incoming& in, Taken taken);
/// Notes that a message is longer than the most that this end receives; false.
bool refuse_longer(h2::Incoming& in, const std::string& incoming, std::int64_t most);

/// The message of a unary call.
class UnaryBody final : public Body {
 public:
  /// most is the longest message that is received, in bytes. The payload outlives it.
  UnaryBody(const Payload& payload, std::int64_t most) : payload_(payload), most_(most) {}

  void begin(h2::Outgoing& out) const override { out.piece = payload_.outgoing(out.room); }
  bool data(h2::Incoming& in, std::string_view bytes) const override;
  Taken end(const h2::Incoming& in, bool compares) const override { return payload_.take(in.kept, compares); }

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
  Taken end(const h2::Incoming& in, bool compares) const override;

 private:
  const Payload& payload_;
  std::int64_t most_;
  bool one_;
};

/// Content cut into the messages of a stream, and joined again: each is a Block, or raw. What is
/// sent raw is the same in every exchange and made once; a Block is encoded when its turn comes,
/// so that a body needs no more memory than the pieces that are on their way.
class ChunkedBody final : public Body {
 public:
  /// The contents outlive it. most is as with UnaryBody.
  ChunkedBody(const Direction& direction, const Cutting& cutting, std::int64_t most);

  void begin(h2::Outgoing& out) const override;
  void next(h2::Outgoing& out) const override;
  bool data(h2::Incoming& in, std::string_view bytes) const override;
  Taken end(const h2::Incoming& in, bool compares) const override;

 private:
  std::size_t add_message(h2::Outgoing& out, std::size_t used, std::size_t size) const;
  bool begin_message(h2::Incoming& in) const;
  bool add(h2::Incoming& in, std::string_view message) const;
  bool join(h2::Incoming& in, std::string_view part) const;

  const grpc_worker::Content& out_;
  Cutting cutting_;
  std::int64_t most_;
  Judge judge_;                    // of the joined content
  std::vector<v1::Block> blocks_;  // of codec bytes
  std::string raw_;                // the body that is sent raw
};

}  // namespace netdyno::h2grpc
