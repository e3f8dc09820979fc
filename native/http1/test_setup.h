// Ends of wire http/1.1 without sockets. Layer: test.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "http1/options.h"
#include "http1/work.h"
#include "kit/options.h"

namespace netdyno::http1::test {

inline constexpr std::int64_t kForEver = std::int64_t{1} << 40;

/// A setup with complete options.
inline contract::Setup setup_of(contract::Role role, std::int64_t up, std::int64_t down,
                                const contract::Json& options = contract::Json::object()) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange.up_bytes = up;
  setup.exchange.down_bytes = down;
  setup.peers = {"127.0.0.1:8080"};
  setup.load.connections = 1;
  setup.options = complete_options(transport("http1", ""), role, options);
  return setup;
}

/// A client's flow of one connection, with all that it needs.
struct ClientRig {
  explicit ClientRig(const contract::Setup& setup) : ClientRig(setup, work_of(setup)) {}
  ClientRig(const contract::Setup& setup, std::shared_ptr<const Work> of)
      : work(std::move(of)), load(setup, 1), flow(work->client_of(0, 0, load.slots(0), agenda)) {
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

/// Gives bytes to a flow as far as it takes them, as a loop does that sends before it reads
/// on: its words are added to said. Stops when the connection is no longer open.
inline void give(Flow& flow, std::string_view bytes, std::string* said = nullptr) {
  while (!bytes.empty() && flow.fate() == Flow::Fate::open) {
    const auto buffer = flow.read_buffer();
    if (buffer.empty()) return;
    const std::size_t n = std::min(buffer.size(), bytes.size());
    std::memcpy(buffer.data(), bytes.data(), n);
    bytes.remove_prefix(n);
    flow.received(n, 3);
    if (said != nullptr) *said += sent(flow);
  }
}

}  // namespace netdyno::http1::test
