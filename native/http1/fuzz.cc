// Gives any bytes, in pieces of any size, to a client's flow, to the first exchange of a
// connection and to a server's flow. None may crash, hold up or count wrong.
//
//   http1-fuzz -max_total_time=600 CORPUS
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http1/test_setup.h"

namespace netdyno::http1::test {
namespace {

using contract::Role;
using netdyno::test::play;
using netdyno::test::require;

/// The work of one kind of client, made once.
struct Kind {
  explicit Kind(std::int64_t up, const contract::Options& options)
      : any(options.at("verify").get<std::string>() == "status"),
        setup(setup_of(Role::client, up, 5, options)) {
    setup.events = options.contains("events");
    work = work_of(setup);
  }
  bool any;
  contract::Setup setup;
  std::shared_ptr<const Work> work;
};

void client(const Kind& kind, std::string_view bytes, std::uint64_t seed) {
  ClientRig rig(kind.setup, kind.work);
  play(*rig.flow, bytes, seed);
  // What is counted was asked for, and a lost connection holds no slot.
  require(rig.agenda.held() == 0);
  require(rig.counts().exchanges + rig.counts().error_sum() <= static_cast<std::int64_t>(bytes.size()) + 1);
  require(kind.any || rig.counts().received_bytes == 5 * rig.counts().exchanges);
}

void first_exchange(const Kind& kind, std::string_view bytes, std::uint64_t seed) {
  const auto verification = kind.work->verification(0);
  verification->begin(0);
  try {
    play(*verification, bytes, seed);
  } catch (const contract::Failure&) {
    return;  // it says what was wrong
  }
}

void server(std::string_view bytes, std::uint64_t seed) {
  static const std::unique_ptr<const Work> work = work_of(setup_of(Role::server, 5, 5));
  Traffic traffic;
  const auto flow = work->server(seed % 200 + 1, traffic);
  flow->begin(0);
  while (!bytes.empty() && flow->fate() == Flow::Fate::open) {
    const std::size_t n = std::min<std::size_t>(bytes.size(), split_mix(seed) % 64 + 1);
    std::string said;
    give(*flow, bytes.substr(0, n), &said);
    bytes.remove_prefix(n);
  }
  require(traffic.received.get() == 5 * traffic.exchanges.get());
  require(traffic.invalid.get() <= 1);
}

}  // namespace
}  // namespace netdyno::http1::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace netdyno::http1::test;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::uint64_t seed = data[0];
  static const Kind getting(0, {{"verify", "length"}});
  static const Kind posting(50, {{"verify", "length"}});
  static const Kind taking_any(0, {{"verify", "status"}});
  static const Kind chatting(0, {{"verify", "status"}, {"events", "chat"}, {"most_events", 3}});
  client(seed % 2 == 0 ? getting : posting, bytes, seed);
  client(taking_any, bytes, seed);
  client(chatting, bytes, seed);
  first_exchange(getting, bytes, seed);
  first_exchange(chatting, bytes, seed);
  server(bytes, seed);
  return 0;
}
