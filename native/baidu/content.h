// What the frames of one end carry: the bytes that it sends, the same in every
// exchange, and what it makes of those that come. The twin of
// internal/work/transport/brpc/content.go, for codec bytes.
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

/// The one method that is called and served here.
inline constexpr std::string_view kService = "netdyno.v1.Exchange";
inline constexpr std::string_view kMethod = "Unary";

/// What is wrong with a message that came.
enum class Fault : std::uint8_t { none, compressed, undecodable, in_message, in_attachment, size };

/// What became of a message that came.
struct Verdict {
  Fault fault = Fault::none;
  std::int64_t found = 0;    // payload bytes; of a compressed message, its type
  std::string_view content;  // where it lies in the frame
};

class Content {
 public:
  /// Bytes of one direction at most, before they are allocated.
  static constexpr std::int64_t kMaxBytes = 1 << 30;

  /// Throws Failure: setup for sizes or options that do not fit, unsupported for
  /// what this transport does not carry.
  explicit Content(const contract::Setup& setup);

  /// Appends the head of a frame that says meta; sent has to follow.
  void append_head(std::string& to, Meta meta) const;
  /// What follows every head.
  std::span<const char> sent() const { return sent_; }

  /// Takes a frame as an application does: decoded, the content whole.
  Verdict accept(const Frame& frame) const;
  /// Says what a verdict means of what, a request or a reply.
  std::string explain(const Verdict& verdict, std::string_view what) const;
  /// Compares a reply with what had to come. Throws Failure{invalid} that names
  /// the connection.
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
