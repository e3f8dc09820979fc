// Flows without sockets, for tests and fuzzers. Layer: test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kit/agenda.h"
#include "kit/flow.h"
#include "kit/load.h"
#include "kit/random.h"
#include "kit/work.h"

namespace netdyno::test {

/// A client's flow of one connection, with all that it needs.
struct ClientRig {
  ClientRig(const contract::Setup& setup, std::shared_ptr<const Work> of)
      : work(std::move(of)), load(setup, 1), flow(work->client({0, 0, load.slots(0), agenda})) {
    load.start(1);
    load.open(1);
    flow->begin(1);
  }
  contract::Counts counts() const { return load.counts(); }
  std::int64_t errors(contract::ErrorKind kind) const {
    return counts().errors[static_cast<std::size_t>(kind)];
  }

  std::shared_ptr<const Work> work;
  Load load;
  Agenda agenda;
  std::unique_ptr<Flow> flow;
};

/// Takes all that a flow has to send, at most piece bytes at a time.
inline std::string sent(Flow& flow, std::size_t piece = SIZE_MAX) {
  std::string all;
  while (flow.unsent()) {
    const auto out = flow.outgoing(2).first(std::min(piece, flow.outgoing(2).size()));
    all.append(out.data(), out.size());
    flow.written(out.size());
  }
  return all;
}

/// Gives bytes to a flow at an instant, as far as it takes them, as a loop does that sends before it
/// reads on: its words are added to said. Stops when the connection is no longer open.
inline void give(Flow& flow, std::string_view bytes, std::string* said = nullptr, std::int64_t now = 3) {
  while (!bytes.empty() && flow.fate() == Flow::Fate::open) {
    const auto buffer = flow.read_buffer();
    if (buffer.empty()) return;
    const std::size_t n = std::min(buffer.size(), bytes.size());
    std::memcpy(buffer.data(), bytes.data(), n);
    bytes.remove_prefix(n);
    flow.received(n, now);
    if (said != nullptr) *said += sent(flow);
  }
}

/// Gives bytes in pieces, and lets the flow connect again where it would.
inline void play(Flow& flow, std::string_view bytes, std::uint64_t seed) {
  while (!bytes.empty()) {
    sent(flow, split_mix(seed) % 100 + 1);
    const std::size_t n = std::min<std::size_t>(bytes.size(), split_mix(seed) % 64 + 1);
    give(flow, bytes.substr(0, n));
    bytes.remove_prefix(n);
    if (flow.fate() == Flow::Fate::lost) break;
    if (flow.fate() == Flow::Fate::over || split_mix(seed) % 16 == 0) {
      if (flow.fate() != Flow::Fate::over && !flow.ended(5)) break;
      flow.reopened(6);
    }
  }
  flow.abandon(contract::ErrorKind::peer, 9);
}

/// Ends the program where something that has to hold does not, sanitizers or none.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace netdyno::test
