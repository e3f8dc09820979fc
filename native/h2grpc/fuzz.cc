// Gives any bytes to the ends of grpc-nghttp2 (h2/test_setup.h says how).
//
//   h2grpc-fuzz -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>

#include "h2/test_setup.h"
#include "h2grpc/work.h"
#include "kit/options.h"

namespace netdyno::h2grpc {
namespace {

using contract::Role;
using h2::test::Ends;

contract::Setup setup_of(Role role) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange.up_bytes = 5;
  setup.exchange.down_bytes = 7;
  setup.exchange.codec = "bytes";
  setup.peers = {"127.0.0.1:8080"};
  setup.load.connections = 1;
  setup.load.in_flight = 3;
  contract::Transport transport;
  transport.roles = {Role::server, Role::client};
  transport.options = options();
  setup.options = complete_options(transport, role, contract::Json::object());
  return setup;
}

std::unique_ptr<const Work> ends(const contract::Setup& setup) { return work_of(setup, contents_of(setup)); }

}  // namespace
}  // namespace netdyno::h2grpc

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace netdyno::h2grpc;
  static const Ends all(ends, setup_of(Role::client), setup_of(Role::server));
  all.play(data, size);
  return 0;
}
