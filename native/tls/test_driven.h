// A flow as an event loop drives it, which ends the program where the flow does not do what
// kit/flow.h promises of it. Layer: test.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "kit/contract.h"
#include "kit/flow.h"
#include "test/flow_rig.h"

namespace netdyno::tls::test {

using netdyno::test::require;

class Driven {
 public:
  using Fate = Flow::Fate;

  /// Of a flow that has begun, and outlives this. A client's may have no connection yet.
  Driven(Flow& flow, contract::Role role, bool connected = true) : flow_(flow), role_(role) {
    fate_ = connected ? flow.fate() : Fate::over;
  }

  bool is_open() const { return !dropped_ && fate_ == Fate::open; }
  /// Whether there is no connection any more: a server's lasts until all is said.
  bool is_gone() const { return dropped_ || (!is_open() && !speaks()); }
  /// Whether a client wants another connection.
  bool wants() const {
    return role_ == contract::Role::client && !dropped_ && fate_ == Fate::over && flow_.unsent();
  }

  /// What it has to send, at most so many bytes.
  std::string says(std::size_t most = SIZE_MAX) {
    std::string all;
    while (all.size() < most && speaks()) {
      const auto out = flow_.outgoing(2);
      require(!out.empty() && out.size() <= kMostGathered);
      going_ = out.first(std::min(out.size(), most - all.size()));
      copy_.assign(going_.begin(), going_.end());
      all += copy_;
      flow_.written(going_.size());
      watch();
    }
    return all;
  }

  /// Gives it bytes, as far as it takes them. Returns how many.
  std::size_t takes(std::string_view bytes) {
    const std::size_t all = bytes.size();
    while (!bytes.empty() && is_open()) {
      const auto buffer = flow_.read_buffer();
      require(buffer.size() <= kMostRead);
      if (buffer.empty()) break;
      const std::size_t n = std::min(buffer.size(), bytes.size());
      std::memcpy(buffer.data(), bytes.data(), n);
      bytes.remove_prefix(n);
      flow_.received(n, 3);
      watch();
    }
    return all - bytes.size();
  }

  /// The connection has ended.
  void ends() {
    if (!is_open()) return;
    dropped_ = !flow_.ended(4);
    watch();
    require(dropped_ || fate_ == Fate::over);
  }

  /// Makes the connection that it wants.
  void reopens() {
    going_ = {};
    copy_.clear();
    flow_.reopened(5);
    fate_ = Fate::open;
    watch();
  }

 private:
  /// What is gathered, one piece of plain text, and what one read is answered by.
  static constexpr std::size_t kMostGathered = 192 << 10;
  static constexpr std::size_t kMostRead = 192 << 10;

  bool speaks() const {
    if (dropped_ || fate_ == Fate::lost) return false;
    return (role_ == contract::Role::server || fate_ == Fate::open) && flow_.unsent();
  }

  /// A connection that is not open does not open again, and what the kernel is sending stays.
  void watch() {
    const Fate now = flow_.fate();
    require(fate_ == Fate::open || fate_ == now);
    fate_ = now;
    require(std::equal(going_.begin(), going_.end(), copy_.begin(), copy_.end()));
  }

  Flow& flow_;
  contract::Role role_;
  Fate fate_ = Fate::open;
  bool dropped_ = false;
  std::span<const char> going_;  // handed out last
  std::string copy_;             // of it
};

}  // namespace netdyno::tls::test
