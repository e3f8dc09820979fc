// The frames of wire baidu_std, brpc's own protocol:
//
//   "PRPC" | size of the body | size of the meta | meta | message | attachment
//   4 B      4 B, big-endian    4 B, big-endian    └────── the body ─────────┘
//
// Layer: above meta. It moves no bytes. Go counterpart: internal/work/wire/baidustd.
// Plain values; any thread.
// Source: Apache brpc, docs/en/baidu_std.md and src/brpc/policy/baidu_rpc_protocol.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "baidu/meta.h"

namespace netdyno::baidu {

inline constexpr std::size_t kHeaderSize = 12;
/// The largest meta of a received frame, in bytes. Two names and an error text take hundreds.
inline constexpr std::size_t kMaxMeta = 64 << 10;

/// What a header announces, in bytes.
struct Header {
  std::size_t body = 0;
  std::size_t meta = 0;  // at the body's beginning

  std::size_t frame() const { return kHeaderSize + body; }
};

/// Reads a header before anything is allocated for its sizes. Throws Malformed for another
/// magic, a body above max_body, or a meta above kMaxMeta or larger than its body.
Header parse_header(std::span<const char, kHeaderSize> bytes, std::size_t max_body);

/// One whole frame. Its texts and bytes point into the buffer that it was read from.
struct Frame {
  Meta meta;
  std::string_view message;
  std::string_view attachment;
};

/// Splits a body of header.body bytes. Throws Malformed for a meta that does not parse or an
/// attachment that does not fit.
Frame parse_body(std::string_view body, const Header& header);

/// Appends a frame's header and meta. A message of message_bytes must follow, and then an
/// attachment of meta.attachment_bytes. Together they must stay below 4 GiB, the limit of
/// the header.
void append_head(std::string& to, const Meta& meta, std::size_t message_bytes);

}  // namespace netdyno::baidu
