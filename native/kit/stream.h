// Wire stream: messages of two known sizes, one way or both ways at once. Both ends
// know the content (contract/CONTRACT.md, section Wires).
//
// Layer: above flow, flights, server_flow. A StreamPlan is immutable: any thread may
// read it. Only one loop's thread uses a flow. Go counterpart: internal/work/wire.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kit/agenda.h"
#include "kit/contract.h"
#include "kit/flow.h"

namespace netdyno {

/// The content of one direction's messages: a block of random bytes, repeated. Only
/// the block is in memory, however large a message is.
class StreamContent {
 public:
  static constexpr std::uint64_t kUp = 1;  // seeds of the content
  static constexpr std::uint64_t kDown = 2;

  /// bytes and chunk_bytes are at least 1.
  StreamContent(std::uint64_t state, std::int64_t bytes, std::int64_t chunk_bytes);

  /// Size of one message.
  std::int64_t bytes() const { return bytes_; }
  /// What follows the first at bytes of a message, in one piece of at most a chunk.
  /// at is less than bytes().
  std::span<const char> from(std::int64_t at) const;
  /// How many pieces in a row, of the bytes from at until there, are what from(at) returns: 1
  /// unless that is a whole block.
  std::size_t repeats(std::int64_t at, std::int64_t until) const;
  /// How many of the given bytes, which follow the first at bytes of a message, equal
  /// its content before the first difference.
  std::size_t agreeing(std::int64_t at, std::span<const char> given) const;

 private:
  std::int64_t bytes_;
  std::vector<char> block_;
};

/// What every connection of a trial on wire stream sends and expects.
class StreamPlan {
 public:
  /// Throws Failure{setup} for sizes that the wire does not allow, and
  /// Failure{unsupported} for a codec or fresh connections.
  explicit StreamPlan(const contract::Setup& setup);

  const StreamContent& up() const { return up_; }
  const StreamContent& down() const { return down_; }
  /// What is sure to come where have bytes of a message have come; 0 where both directions stream, as
  /// the first byte is answered then.
  std::int64_t missing(std::int64_t have, std::int64_t bytes) const {
    return both_ || have <= 0 ? 0 : std::max<std::int64_t>(0, bytes - have);
  }

  /// From one chunk down to the next, in ns; 0 for at once.
  std::int64_t every_ns() const { return every_ns_; }

  /// How many bytes down the server may send once it has at of an exchange's up_bytes:
  /// all of them after the last byte up. If both directions stream, all but one after
  /// the first byte up.
  std::int64_t answerable(std::int64_t at) const {
    if (at == up_.bytes()) return down_.bytes();
    return both_ && at > 0 ? down_.bytes() - 1 : 0;
  }

 private:
  StreamContent up_;
  StreamContent down_;
  bool both_;
  std::int64_t every_ns_;
};

/// The client's flow. It counts the bytes down and drops their content.
class StreamClient final : public Flow {
 public:
  /// The most that one read takes, in bytes.
  static constexpr std::int64_t kMaxRead = 128 << 10;

  /// plan outlives the flow.
  StreamClient(const StreamPlan& plan, Flights flights) : plan_(plan), flights_(flights) {}

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override { flights_.queue(slot); }
  bool unsent() const override { return rest_ > 0 || flights_.waiting() > 0; }
  std::span<const char> outgoing(std::int64_t now) override;
  std::size_t alike() const override {
    const std::int64_t bytes = plan_.up().bytes();
    return plan_.up().repeats(rest_ == 0 ? 0 : bytes - rest_, bytes);
  }
  void written(std::size_t n) override;
  bool lasting() const override { return true; }
  std::span<char> read_buffer() override { return {buffer_.get(), capacity_}; }
  std::int64_t missing() const override { return plan_.missing(have_, plan_.down().bytes()); }
  bool drops() const override { return true; }
  void received(std::size_t n, std::int64_t now) override;
  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  const StreamPlan& plan_;
  Flights flights_;
  std::int64_t rest_ = 0;  // unwritten bytes of the last exchange that was begun
  std::int64_t have_ = 0;  // bytes received of the oldest exchange in flight
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
};

/// The server's flow. It compares the content of the first exchange up and drops that
/// of the others. It can always be read from: what it still has to send is only a
/// number.
class StreamServer final : public ServerFlow {
 public:
  /// plan outlives the flow.
  StreamServer(const StreamPlan& plan, std::size_t buffer, Traffic& traffic)
      : ServerFlow(buffer, traffic), plan_(plan) {}

  bool unsent() const override { return !resting_ && down_ < answerable(); }
  void rested(std::int64_t) override { resting_ = false; }
  std::span<const char> outgoing(std::int64_t now) override;
  std::size_t alike() const override {
    return plan_.every_ns() > 0 ? 1 : plan_.down().repeats(down_, answerable());
  }
  void written(std::size_t n) override;
  bool lasting() const override { return true; }
  std::span<char> read_buffer() override { return buffer(); }
  std::int64_t missing() const override { return plan_.missing(up_, plan_.up().bytes()); }
  bool drops() const override { return complete_ > 0; }
  void received(std::size_t n, std::int64_t now) override;

 private:
  /// Bytes of the oldest exchange that may be sent by now.
  std::int64_t answerable() const {
    return answered_ < complete_ ? plan_.down().bytes() : plan_.answerable(up_);
  }
  void compare(std::size_t n);
  void pace();

  const StreamPlan& plan_;
  bool resting_ = false;       // until the next chunk is due
  std::int64_t due_ = 0;       // when the last one was
  std::int64_t complete_ = 0;  // exchanges received in full
  std::int64_t up_ = 0;        // bytes received of the next one
  std::int64_t answered_ = 0;  // exchanges answered in full
  std::int64_t down_ = 0;      // bytes sent of the next one
};

}  // namespace netdyno
