// Setups and frames for the tests of the baidu-std-asio worker. Layer: test.
#pragma once

#include <string>

#include "baidu/frame.h"
#include "baidu/options.h"
#include "test/flows.h"

namespace netdyno::baidu {

using test::drain;
using test::feed;

inline contract::Setup setup_of(contract::Role role, std::int64_t up, std::int64_t down,
                                const contract::Json& changes = contract::Json::object()) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange = {up, down, "", contract::Stream::none, 0};
  setup.load.connections = 1;
  setup.listen = "127.0.0.1:0";
  setup.threads = 2;
  for (const contract::Option& option : options()) setup.options[option.name] = option.fallback;
  setup.options.update(changes);
  return setup;
}

/// A netdyno.v1.Block with a content of n bytes.
inline std::string block(std::size_t n) {
  std::string bytes;
  append_bytes_head(bytes, 1, n);
  return bytes.append(n, 'x');
}

/// The meta of a request for the method that is served.
inline Meta request(std::int64_t id, std::string_view service = "netdyno.v1.Exchange",
                    std::string_view method = "Unary") {
  Meta meta;
  meta.service = service;
  meta.method = method;
  meta.correlation_id = id;
  return meta;
}

inline Meta reply(std::int64_t id, std::int32_t code = 0) {
  Meta meta;
  meta.correlation_id = id;
  meta.error_code = code;
  return meta;
}

/// A whole frame.
inline std::string framed(Meta meta, const std::string& message, const std::string& attachment = "") {
  std::string bytes;
  meta.attachment_bytes = static_cast<std::int32_t>(attachment.size());
  append_head(bytes, meta, message.size());
  return bytes + message + attachment;
}

}  // namespace netdyno::baidu
