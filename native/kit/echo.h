// Wire echo: the client sends a message of a fixed size, and the server returns the
// same bytes in order. Here is the message, as every client of that wire sends it.
//
// Layer: above contract. Immutable after construction: any thread may read.
// Go counterpart: internal/work/wire.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kit/agenda.h"
#include "kit/contract.h"
#include "kit/flow.h"

namespace netdyno {

inline constexpr char kEcho[] = "echo";

/// The message that every connection of a trial sends: random bytes from the trial's
/// seed, so that nothing can compress it.
class EchoPayload {
 public:
  /// Returns the size of a message. Throws Failure{setup} for an exchange that wire
  /// echo does not allow, and Failure{unsupported} for a codec or fresh connections.
  static std::int64_t check(const contract::Setup& setup);

  /// Throws as check does.
  explicit EchoPayload(const contract::Setup& setup);

  /// Size of one message in bytes.
  std::size_t size() const { return size_; }
  /// Copies of the message side by side, for one write of a pipelining client: as many
  /// as in_flight but at most 64 KiB, and at least one.
  std::span<const char> copies() const { return copies_; }

  /// The verification message of a connection: a stamp of its own, then the payload's
  /// bytes. The stamp shows when replies reach the wrong connection.
  struct Stamped {
    std::array<char, 8> stamp;
    std::size_t stamp_size;
    std::uint32_t sum;  // of the whole message, as sum_of has it
  };
  Stamped stamped(std::int64_t connection) const;
  /// The bytes of a verification message after its stamp.
  std::span<const char> after_stamp(const Stamped& message) const {
    return copies().subspan(message.stamp_size, size_ - message.stamp_size);
  }

  /// A checksum of bytes, continued from an earlier one.
  static std::uint32_t sum_of(std::span<const char> bytes, std::uint32_t before = 0);
  /// Compares the checksum of the reply with that of the message. Throws Failure{invalid}
  /// if they differ.
  void verify(const Stamped& sent, std::uint32_t received) const;

 private:
  std::size_t size_;
  std::string copies_;
  std::uint64_t seed_;
};

/// The client's flow of wire echo: it sends messages of one size and receives the same bytes in order.
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
