// What drawing a size costs, beside an exchange of a fixed size:
//
//   cmake --build build/native --target draw-bench && build/native/bin/draw-bench
//
// It prints the least of several rounds, in ns.
#include <algorithm>
#include <cstdio>
#include <limits>

#include "kit/load.h"
#include "kit/system.h"

namespace {

using namespace netdyno;

constexpr std::uint64_t kTimes = 4 << 20;
constexpr int kRounds = 15;

/// The least ns that one call of body takes, over rounds.
template <class Body>
double least(Body body) {
  double ns = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; round++) {
    const std::int64_t from = now_ns();
    for (std::uint64_t n = 0; n < kTimes; n++) body(n);
    ns = std::min(ns, static_cast<double>(now_ns() - from) / kTimes);
  }
  return ns;
}

contract::Setup setup_of(const contract::Table& table) {
  contract::Setup setup;
  setup.exchange.up_bytes = setup.exchange.down_bytes = table.empty() ? 100 : contract::most_of(table);
  setup.exchange.up_sizes = table;
  setup.load.connections = 1;
  return setup;
}

/// What a load's bookkeeping of one exchange costs.
double exchange(const contract::Setup& setup) {
  Load load(setup, 1);
  load.start(1);
  load.open(1);
  Slot& slot = load.slots(0).front();
  const std::int64_t down = setup.exchange.down_bytes;
  return least([&slot, down](std::uint64_t n) {
    const auto now = static_cast<std::int64_t>(n) + 2;
    std::int64_t due = 0;
    slot.next(now, due);
    slot.goes_out();
    slot.done(now, now + 50'000, down);
  });
}

}  // namespace

int main() {
  contract::Table many;
  for (std::int64_t i = 0; i < 400; i++) {
    many.push_back({(i + 1) * contract::kTableEnd / 400, i * 1000, i * 1000 + 999});
  }
  const contract::Table one = {{contract::kTableEnd, 100, 4096}};
  volatile std::int64_t kept = 0;
  for (const auto& [name, table] : {std::pair{"1 segment", one}, {"400 segments", many}}) {
    const Drawer drawer(table, 1, DrawStream::up);
    std::printf("draw, %s: %.2f ns\n", name, least([&](std::uint64_t n) { kept = drawer.draw(n); }));
  }
  const double fixed = exchange(setup_of({}));
  std::printf("exchange of a fixed size: %.2f ns\n", fixed);
  for (const auto& [name, table] : {std::pair{"1 segment", one}, {"400 segments", many}}) {
    const double drawn = exchange(setup_of(table));
    std::printf("exchange of a drawn size, %s: %.2f ns, %.2f times\n", name, drawn, drawn / fixed);
  }
}
