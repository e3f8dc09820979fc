// Gives any bytes to the ends of grpc-nghttp2 (h2/test_setup.h says how).
//
//   h2grpc-fuzz -max_total_time=600 CORPUS
#include <array>
#include <cstddef>
#include <cstdint>

#include "h2/test_setup.h"
#include "h2grpc/call.h"
#include "kit/options.h"

namespace netdyno::h2grpc {

using contract::Options;
using contract::Role;
using contract::Stream;
using h2::test::Ends;

namespace {

/// How exchanges travel.
struct Way {
  Stream stream = Stream::none;
  Options options = Options{};
};

contract::Setup setup_of(Role role, const Way& way) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange.up_bytes = 5;
  setup.exchange.down_bytes = 7;
  setup.exchange.codec = "bytes";
  setup.exchange.stream = way.stream;
  setup.exchange.chunk_bytes = way.stream == Stream::none ? 0 : 3;
  setup.peers = {"127.0.0.1:8080"};
  setup.load.connections = 1;
  setup.load.in_flight = 3;
  contract::Transport transport;
  transport.roles = {Role::server, Role::client};
  transport.options = options();
  setup.options = complete_options(transport, role, way.options);
  return setup;
}

Ends ends(const Way& way) { return {work_of, setup_of(Role::client, way), setup_of(Role::server, way)}; }

/// A client that takes replies of any length.
Ends any_length() {
  const Way raw = {Stream::none, {{"codec", "raw"}}};
  const Way any = {Stream::none, {{"codec", "raw"}, {"verify", "status"}, {"headers", "x-key: 1"}}};
  return {work_of, setup_of(Role::client, any), setup_of(Role::server, raw)};
}

}  // namespace
}  // namespace netdyno::h2grpc

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace netdyno::h2grpc;
  using netdyno::contract::Stream;
  static const std::array<netdyno::h2::test::Ends, 6> all = {
      ends({}),
      ends({Stream::none, {{"mode", "stream"}}}),
      ends({Stream::none, {{"mode", "stream"}, {"codec", "raw"}}}),
      ends({Stream::both, netdyno::contract::Options{}}),
      ends({Stream::both, {{"codec", "raw"}}}),
      any_length()};
  if (size > 0) all[data[0] / 4 % all.size()].play(data, size);
  return 0;
}
