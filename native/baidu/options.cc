#include "baidu/options.h"

#include "kit/ends.h"
#include "kit/options.h"

namespace netdyno::baidu {
using contract::Option;
using contract::Role;

namespace {

constexpr std::int64_t kMaxBuffer = 64 << 20;

}  // namespace

std::vector<Option> options() {
  const auto payload = choice_option(
      "payload", {"block", "attachment"},
      "how codec bytes travels: block, in a protobuf Block; attachment, beside an empty Block, which brpc "
      "recommends for bulk; give both ends the same");
  const auto max_body =
      bytes_option("max_body", {64 << 20, 1024, (std::int64_t{1} << 31) - 1},
                   "largest body (meta, message and attachment) this end receives; a connection that "
                   "announces more is closed. brpc's flag max_body_size");
  const auto read =
      bytes_option("read_buffer", {16 << 10, 16, kMaxBuffer},
                   "bytes asked of the socket at once, per connection; it grows to the largest frame");
  const auto write =
      bytes_option("write_buffer", {16 << 10, 0, kMaxBuffer},
                   "frames are gathered up to so many bytes for one write; a content that does not "
                   "fit is written without a copy");
  const auto connection = choice_option(
      "connection", {"single", "pooled"},
      "single: calls share a connection, as many as are in flight; pooled: a connection belongs to one "
      "call at a time, so in_flight above 1 is refused. brpc's connection_type; either way a "
      "connection of the trial is one TCP connection");
  const auto verify =
      choice_option("verify", {"content", "length"},
                    "what is compared before ready: the content that our servers send, or only its "
                    "length, for a server of yours");
  std::vector<Option> all = {
      payload,          max_body, read, write, only(Role::client, connection), only(Role::client, verify),
      listener_option()};
  for (Option& option : pace_options()) all.push_back(std::move(option));
  for (Option& option : socket_options()) all.push_back(std::move(option));
  return all;
}

Buffers buffers_of(const contract::Json& options) {
  return {options.at("read_buffer").get<std::size_t>(), options.at("write_buffer").get<std::size_t>(),
          options.at("max_body").get<std::size_t>()};
}

}  // namespace netdyno::baidu
