// What the workers of wire grpc:netdyno.v1 share: the content of a trial's exchanges both ways,
// random bytes or messages that protobuf encodes; the methods and sizes by which it travels;
// what is made of what came. Go counterpart: internal/work/codec.
//
// Layer: above kit/random. Functions, and what is immutable after construction: any thread.
#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange.pb.h"
#include "kit/contract.h"

namespace netdyno::grpc_worker {

/// The content of one direction.
struct Content {
  std::string bytes;                                         // of codec bytes
  std::unique_ptr<const google::protobuf::Message> message;  // of codec proto; else null
  std::int64_t size = 0;                                     // of bytes, or of the encoded message
};

class Contents {
 public:
  /// The most bytes of one direction; checked before they are allocated.
  static constexpr std::int64_t kMaxBytes = 1 << 30;

  /// Throws Failure: setup for values that do not fit their type, unsupported for a message
  /// that is not of netdyno.v1.
  explicit Contents(const contract::Exchange& exchange);

  /// Whether the codec encodes messages.
  bool structured() const { return up_.message != nullptr; }
  const Content& up() const { return up_; }
  const Content& down() const { return down_; }

 private:
  Content up_;
  Content down_;
};

/// The methods that a trial uses, by their names in exchange.proto.
struct Methods {
  std::string unary;
  std::string stream;
  std::string chunks;  // empty when nothing travels in chunks
};
Methods methods_of(const contract::Exchange& exchange);
/// gRPC's full name of a method, such as "/netdyno.v1.Exchange/Unary".
std::string full_name(const std::string& method);
/// What a server says of a method that is none of them, behind its name. talks: exchanges may follow one
/// another on a stream.
std::string refusal(const contract::Exchange& exchange, bool talks);

/// How an end cuts what it sends into the messages of a stream, and takes what it receives.
struct Cutting {
  bool raw = false;        // chunks travel as raw messages, else in Blocks
  bool sends = false;      // several messages; else one
  bool receives = false;   // the same
  std::int64_t chunk = 0;  // bytes of a chunk, above 0

  /// Of the setup's end. Its options are complete.
  static Cutting of(const contract::Setup& setup);
  /// Bytes of content that one message carries of so many.
  std::size_t step(std::size_t size) const;
  /// Codec bytes in Blocks. Made once, because the content is the same in every exchange: a new
  /// string for each message would be one more copy.
  std::vector<v1::Block> blocks(const std::string& bytes) const;
};
/// The largest encoded message that the setup's end receives, in bytes.
std::int64_t largest_message(const contract::Setup& setup, const Contents& contents);

/// Throws Failure{unsupported} for options mode and codec that contradict the exchange.
void require_agreement(const contract::Setup& setup, const Contents& contents);

/// The numbers of gRPC's statuses that the wire speaks of. Source: gRPC, Status codes and their
/// use in gRPC (doc/statuscodes.md).
struct Codes {
  enum Code {
    ok = 0,
    cancelled = 1,
    invalid_argument = 3,
    deadline_exceeded = 4,
    resource_exhausted = 8,
    unimplemented = 12,
    internal = 13,
    unavailable = 14
  };
};
using Code = Codes::Code;

/// The contract's kind of a status: peer when the connection is gone, timeout when a deadline
/// passed, invalid when the answer is not the expected one.
contract::ErrorKind kind_of(int code);

/// A status in words: "Unavailable: try later". The name is that of the library in Go, so that
/// equal causes have equal reasons.
std::string status_text(int code, const std::string& message);

/// Whether a status is one that the library makes where a connection is lost, and not the server's
/// own.
bool of_a_loss(int code, std::string_view message);

/// What a message was found to be.
struct Taken {
  std::int64_t bytes = 0;  // of payload, where code is ok
  Code code = Code::ok;    // else what a server answers with
  std::string why;
};

/// What one end sends and receives, and how its errors name what it receives.
struct Direction {
  const Content& out;
  const Content& in;
  const char* incoming;     // "request" or "reply"
  bool any_length = false;  // codec bytes may be as long as they are
};

/// The direction of a server.
inline Direction serving(const Contents& contents) { return {contents.down(), contents.up(), "request"}; }

/// Judges what an end received: by its size, and where it compares by its content, too.
/// Messages are decoded anew in every exchange, as generated code does.
class Judge {
 public:
  /// The content outlives it.
  explicit Judge(const Direction& direction)
      : in_(direction.in), incoming_(direction.incoming), any_length_(direction.any_length) {}

  const Content& in() const { return in_; }
  const std::string& incoming() const { return incoming_; }

  /// Bytes without protobuf, or a structured message's encoding in one piece.
  Taken content(std::string_view bytes, bool compares) const;
  /// A message of so many bytes that parse(Message&) reads, false where it cannot: a Block, or
  /// a structured one.
  template <class Parse>
  Taken decoded(std::size_t size, Parse parse, bool compares) const {
    if (in_.message) {
      const std::unique_ptr<google::protobuf::Message> message(in_.message->New());
      return parse(*message) ? values(*message, size, compares) : undecodable();
    }
    v1::Block block;
    return parse(block) ? sized(block.content(), compares) : undecodable();
  }
  /// A chunk is no Block.
  static Taken undecodable_chunk();
  /// What came in chunks exceeds the content.
  Taken excess() const;

 private:
  Taken sized(std::string_view bytes, bool compares) const;
  Taken values(const google::protobuf::Message& message, std::size_t size, bool compares) const;
  Taken undecodable() const;

  const Content& in_;
  std::string incoming_;
  bool any_length_;
};

}  // namespace netdyno::grpc_worker
