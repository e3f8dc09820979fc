// The turns of a client's load: the stretches of time in which its exchanges fall due
// (CONTRACT.md, section Turns).
//
// Layer: above contract. Immutable after construction: any thread may use it.
// Go counterpart: internal/work/load/turns.go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kit/contract.h"

namespace netdyno {

/// When an exchange is due that no turn has room for, in ns.
inline constexpr std::int64_t kNeverDue = INT64_MAX / 4;

class Turns {
 public:
  /// None for a load without turns. Throws Failure{setup} for turns that are not rising and apart,
  /// and Failure{unsupported} beside what has no turns.
  static std::unique_ptr<const Turns> of(const contract::Load& load) {
    using contract::ErrorKind;
    if (load.turns.empty()) return nullptr;
    if (load.amount > 0) {
      throw contract::Failure(ErrorKind::unsupported,
                              "load.turns is given beside load.amount, which has no turns");
    }
    auto turns = std::make_unique<Turns>();
    std::int64_t before = 0;
    std::int64_t last = 0;
    for (const auto& [from, to] : load.turns) {
      if (from < last || to <= from || to > kNeverDue) {
        throw contract::Failure(ErrorKind::setup, "load.turns: turn " + std::to_string(turns->all_.size()) +
                                                      " is from " + std::to_string(from) + " to " +
                                                      std::to_string(to) + ", expected a beginning at " +
                                                      std::to_string(last) + " or later and an end after it");
      }
      turns->all_.push_back({from, to, before});
      before += to - from;
      last = to;
    }
    return turns;
  }

  /// When what is due at ns of the turns' time put end to end is due, in ns after the load's start;
  /// kNeverDue beyond the last turn.
  std::int64_t due_ns(std::int64_t ns) const {
    const auto ends_later = [](std::int64_t at, const Turn& t) { return at < t.before + (t.to - t.from); };
    const auto turn = std::upper_bound(all_.begin(), all_.end(), ns, ends_later);
    return turn == all_.end() ? kNeverDue : turn->from + (ns - turn->before);
  }

  /// The first instant inside a turn that is not before at, in ns after the load's start; kNeverDue
  /// after the last turn.
  std::int64_t next(std::int64_t at) const {
    const auto ends_later = [](std::int64_t when, const Turn& t) { return when < t.to; };
    const auto turn = std::upper_bound(all_.begin(), all_.end(), at, ends_later);
    return turn == all_.end() ? kNeverDue : std::max(at, turn->from);
  }

 private:
  struct Turn {
    std::int64_t from;
    std::int64_t to;
    std::int64_t before;  // the lengths of the turns before it
  };
  std::vector<Turn> all_;
};

}  // namespace netdyno
