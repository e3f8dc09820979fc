// The part of a setup from which times of work are drawn (contract/DRAWS.md).
//
// Layer: bottom. Plain values; any thread. Go counterpart: internal/contract/table.go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace netdyno::contract {

/// One piece of a Table: its end as a cumulative probability × 2^32, and the lowest and the
/// highest number that it has, all of them equally likely.
struct Segment {
  std::int64_t end = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool operator==(const Segment&) const = default;
};

/// A distribution of whole numbers in pieces, from which every worker draws the same sequence.
using Table = std::vector<Segment>;

inline constexpr std::size_t kMostSegments = 4096;
inline constexpr std::int64_t kTableEnd = std::int64_t{1} << 32;  // end of the last segment

/// What is wrong with a table of numbers from 0 to most; empty for one that can be drawn from.
std::string wrong_table(const Table& table, std::int64_t most);

}  // namespace netdyno::contract
