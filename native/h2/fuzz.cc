// Gives any bytes to the ends of wire h2c (h2/test_setup.h says how).
//
//   h2-fuzz -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>

#include "h2/test_setup.h"
#include "h2/work.h"
#include "kit/options.h"

namespace netdyno::h2::test {
namespace {

using contract::Role;

contract::Setup setup_of(Role role, std::int64_t up) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange.up_bytes = up;
  setup.exchange.down_bytes = 5;
  setup.peers = {"127.0.0.1:8080"};
  setup.load.connections = 1;
  setup.load.in_flight = 3;
  setup.options = complete_options(transport("h2", ""), role, contract::Options{});
  return setup;
}

Ends ends_of(std::int64_t up) { return {work_of, setup_of(Role::client, up), setup_of(Role::server, up)}; }

}  // namespace
}  // namespace netdyno::h2::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using netdyno::h2::test::Ends;
  static const Ends getting = netdyno::h2::test::ends_of(0);
  static const Ends posting = netdyno::h2::test::ends_of(50);
  if (size > 0) (data[0] % 2 == 0 ? getting : posting).play(data, size);
  return 0;
}
