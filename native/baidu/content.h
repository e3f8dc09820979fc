// The content of one end's frames: the bytes that it sends, the same in every exchange, and
// the check of those that it receives.
//
// Layer: above frame, kit/random_content. Immutable after construction: any thread
// may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "baidu/frame.h"
#include "kit/contract.h"

namespace netdyno::baidu {

/// The one method that this transport calls and serves.
inline constexpr std::string_view kService = "netdyno.v1.Exchange";
inline constexpr std::string_view kMethod = "Unary";

/// What is wrong with a received message.
enum class Fault : std::uint8_t { none, compressed, undecodable, in_message, in_attachment, size };

/// The result of checking a received message.
struct Verdict {
  Fault fault = Fault::none;
  std::int64_t found = 0;    // payload bytes; for a compressed message, the compression type
  std::string_view content;  // where it lies in the frame
};

class Content {
 public:
  /// The most bytes of one direction; checked before they are allocated.
  static constexpr std::int64_t kMaxBytes = 1 << 30;

  /// Throws Failure: setup for invalid sizes or options, unsupported for exchanges that this
  /// transport does not carry.
  explicit Content(const contract::Setup& setup);

  /// Appends the head of a frame with meta. sent must follow it.
  void append_head(std::string& to, Meta meta) const;
  /// The bytes that follow every head.
  std::span<const char> sent() const { return sent_; }

  /// Decodes a frame as an application does, with its content in one piece.
  Verdict accept(const Frame& frame) const;
  /// Explains a verdict on what, which is "request" or "reply".
  std::string explain(const Verdict& verdict, std::string_view what) const;
  /// Compares a reply with the expected one. Throws Failure{invalid} that names the
  /// connection.
  void verify(std::int64_t connection, const Frame& reply) const;

 private:
  bool attached_;
  bool by_content_;  // verify compares more than the length
  std::string sent_;
  std::string message_head_;  // tag and size of the content, where it is in the message
  std::int64_t coming_bytes_ = 0;
  std::uint32_t coming_crc_ = 0;
};

}  // namespace netdyno::baidu
