// Wire stream: messages of two known sizes, one way or both at once, of a
// content that both ends know (contract/CONTRACT.md, section Wires).
//
// Layer: above flow, flights, serving. A StreamPlan is immutable: any thread may
// read it. A flow belongs to one loop's thread. The twin of internal/work/wire.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kit/contract.h"
#include "kit/flights.h"
#include "kit/flow.h"
#include "kit/serving.h"

namespace netdyno {

/// The content of one direction's messages: a block of random bytes, over and
/// over. The block alone is in memory, however large a message is.
class StreamContent {
 public:
  static constexpr std::uint64_t kUp = 1;  // states that the content is drawn from
  static constexpr std::uint64_t kDown = 2;

  /// bytes and chunk_bytes at least 1.
  StreamContent(std::uint64_t state, std::int64_t bytes, std::int64_t chunk_bytes);

  /// Size of one message.
  std::int64_t bytes() const { return bytes_; }
  /// What follows the first at bytes of a message: at most a chunk, in one
  /// piece; at < bytes().
  std::span<const char> from(std::int64_t at) const;
  /// How many of the given bytes, which came after the first at of a message and
  /// are part of it, are what it holds there, up to the first that is not.
  std::size_t agreeing(std::int64_t at, std::span<const char> given) const;

 private:
  std::int64_t bytes_;
  std::vector<char> block_;
};

/// What a trial asks of every connection of wire stream.
class StreamPlan {
 public:
  /// Throws Failure{setup} for sizes that the wire cannot have,
  /// Failure{unsupported} for a codec or fresh connections.
  explicit StreamPlan(const contract::Setup& setup);

  const StreamContent& up() const { return up_; }
  const StreamContent& down() const { return down_; }

  /// How many bytes of an exchange may come down once at of its up_bytes went
  /// up: all after the last; when both directions stream, all but one after the
  /// first.
  std::int64_t answerable(std::int64_t at) const {
    if (at == up_.bytes()) return down_.bytes();
    return both_ && at > 0 ? down_.bytes() - 1 : 0;
  }

 private:
  StreamContent up_;
  StreamContent down_;
  bool both_;
};

/// A client's end. What comes down is dropped, but for its size.
class StreamClient final : public Flow {
 public:
  /// What one read takes at most.
  static constexpr std::int64_t kRead = 128 << 10;

  /// plan outlives the flow.
  StreamClient(const StreamPlan& plan, Flights flights) : plan_(plan), flights_(flights) {}

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override { flights_.queue(slot); }
  bool unsent() const override { return rest_ > 0 || flights_.waiting() > 0; }
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }
  std::span<char> room() override { return {buffer_.get(), capacity_}; }
  void received(std::size_t n, std::int64_t now) override;
  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  const StreamPlan& plan_;
  Flights flights_;
  std::int64_t rest_ = 0;  // unwritten bytes of the exchange that began last
  std::int64_t have_ = 0;  // bytes that came down of the oldest in flight
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
};

/// A server's end. What goes up in the first exchange is compared, the rest
/// dropped. It may always be read from: what it owes is a number.
class StreamServer final : public Serving {
 public:
  /// plan outlives the flow.
  StreamServer(const StreamPlan& plan, std::size_t buffer, Traffic& traffic)
      : Serving(buffer, traffic), plan_(plan) {}

  bool unsent() const override { return down_ < answerable(); }
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }
  std::span<char> room() override { return buffer(); }
  void received(std::size_t n, std::int64_t now) override;

 private:
  /// Bytes of the oldest exchange that may have gone down by now.
  std::int64_t answerable() const {
    return answered_ < complete_ ? plan_.down().bytes() : plan_.answerable(up_);
  }
  void compare(std::size_t n);

  const StreamPlan& plan_;
  std::int64_t complete_ = 0;  // exchanges whose up_bytes have all come
  std::int64_t up_ = 0;        // bytes of the one after them
  std::int64_t answered_ = 0;  // exchanges whose down_bytes were all written
  std::int64_t down_ = 0;      // bytes of the one after them
};

}  // namespace netdyno
