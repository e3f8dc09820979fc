// The meta of a baidu_std frame: the fields of brpc's RpcMeta that netdyno uses.
//
// Layer: above fields. Plain values; any thread.
// Source: Apache brpc, src/brpc/policy/baidu_rpc_meta.proto, src/brpc/errno.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "baidu/fields.h"

namespace netdyno::baidu {

/// Its texts point into the buffer that they were read from, or to a writer's texts.
struct Meta {
  std::optional<std::string_view> service;  // of a request; a reply's meta has none
  std::optional<std::string_view> method;
  std::int32_t error_code = 0;  // of a reply; 0 is success
  std::string_view error_text;
  std::int32_t compression = 0;     // brpc's CompressType; 0 is none
  std::int64_t correlation_id = 0;  // chosen by the client, repeated in the reply
  std::int32_t attachment_bytes = 0;

  bool operator==(const Meta&) const = default;
};

/// Reads an encoded meta. Throws Malformed when it does not parse, or when a request names no
/// service or no method.
Meta parse_meta(std::string_view encoded);

/// Appends the encoded meta. As in brpc, a request's names and a reply's code are always
/// present, and other fields only when they are not zero.
void append_meta(std::string& to, const Meta& meta);

// Codes of a reply that failed.
inline constexpr std::int32_t kNoService = 1001;
inline constexpr std::int32_t kNoMethod = 1002;
inline constexpr std::int32_t kBadRequest = 1003;
inline constexpr std::int32_t kTimedOut = 1008;
inline constexpr std::int32_t kLostSocket = 1009;
inline constexpr std::int32_t kLogOff = 2003;  // the server is stopping

/// brpc's name of a code, or "error".
std::string_view code_name(std::int32_t code);

}  // namespace netdyno::baidu
