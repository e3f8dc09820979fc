#include "baidu/options.h"

#include "kit/ends.h"

namespace netdyno::baidu {
namespace {

using contract::Option;
using contract::OptionType;
using contract::Role;

Option choice(const std::string& name, const std::vector<std::string>& choices, const std::string& doc) {
  Option option;
  option.name = name;
  option.type = OptionType::choice;
  option.fallback = choices.front();
  option.choices = choices;
  option.doc = doc;
  return option;
}

/// An option in bytes; fallback and least, and at most 64 MiB.
Option bytes(const std::string& name, std::int64_t fallback, std::int64_t least, const std::string& doc) {
  Option option;
  option.name = name;
  option.type = OptionType::bytes;
  option.unit = std::string(1, 'B');  // GCC 12 warns of a copy here that it has made up
  option.fallback = fallback;
  option.min = least;
  option.max = 64 << 20;
  option.doc = doc;
  return option;
}

}  // namespace

std::vector<Option> options() {
  const auto payload =
      choice("payload", {"block", "attachment"},
             "how codec bytes travels: block in a protobuf Block; attachment beside an empty one, brpc's own "
             "way for bulk; give both ends the same");
  auto max_body = bytes("max_body", 64 << 20, 1024,
                        "largest body (meta, message and attachment) this end receives; a connection that "
                        "announces more is closed. brpc's flag max_body_size");
  max_body.max = (std::int64_t{1} << 31) - 1;
  const auto read = bytes("read_buffer", 16 << 10, 16,
                          "bytes asked of the socket at once, per connection; it grows to the largest frame");
  const auto write = bytes("write_buffer", 16 << 10, 0,
                           "frames are gathered up to so many bytes for one write; a content that does not "
                           "fit is written from where it lies");
  auto connection = choice(
      "connection", {"single", "pooled"},
      "single: calls share a connection, as many as are in flight; pooled: a connection belongs to one "
      "call at a time, so in_flight above 1 is refused. brpc's connection_type; either way a "
      "connection of the trial is one TCP connection");
  auto verify = choice("verify", {"content", "length"},
                       "what is compared before ready: the content that our servers send, or only its "
                       "length, for a server of yours");
  connection.roles = verify.roles = {Role::client};
  std::vector<Option> all = {payload, max_body, read, write, connection, verify, listener_option()};
  for (Option& option : socket_options()) all.push_back(std::move(option));
  return all;
}

Buffers buffers_of(const contract::Json& options) {
  return {options.at("read_buffer").get<std::size_t>(), options.at("write_buffer").get<std::size_t>(),
          options.at("max_body").get<std::size_t>()};
}

}  // namespace netdyno::baidu
