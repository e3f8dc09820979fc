// Wire echo: a fixed-size message goes up, the same bytes come back, in order.
// What every client of that wire needs before it moves a byte.
//
// Layer: above contract. Immutable after construction: any thread may read.
// The twin of internal/work/wire.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kit/contract.h"

namespace netdyno {

inline constexpr char kEcho[] = "echo";

/// CRC-32C (Castagnoli) of bytes, continuing from an earlier checksum.
/// Source: RFC 3720, appendix B.4.
std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before = 0);
/// A checksum as errors say it: eight hexadecimal digits.
std::string crc_text(std::uint32_t crc);

/// The message that every connection of a trial sends: random, so that nothing
/// can compress it, drawn from the trial's seed.
class EchoPayload {
 public:
  /// The size of a message. Throws Failure{setup} when the exchange cannot be had
  /// on wire echo, Failure{unsupported} for a codec or fresh connections.
  static std::int64_t check(const contract::Setup& setup);

  /// Throws as check does.
  explicit EchoPayload(const contract::Setup& setup);

  /// Size of one message in bytes.
  std::size_t size() const { return size_; }
  /// Copies of the message one after the other, at most in_flight and 64 KiB
  /// (but at least one): what a pipelining client hands over in one write.
  std::span<const char> copies() const { return copies_; }

  /// The verification message of a connection: its own first bytes, then the
  /// payload's, so that connections that are mixed up are noticed.
  struct Stamped {
    std::array<char, 8> stamp;
    std::size_t stamp_size;
    std::uint32_t crc;
  };
  Stamped stamped(std::int64_t connection) const;
  /// The part of a verification message after its stamp.
  std::span<const char> after_stamp() const;

  /// Compares the CRC-32C of what came back with what was sent; throws
  /// Failure{invalid} that names the connection.
  void verify(std::int64_t connection, const Stamped& sent, std::uint32_t received) const;

 private:
  std::size_t size_;
  std::string copies_;
  std::uint64_t seed_;
};

}  // namespace netdyno
