// Mixes and recorded traffic in the contract (contract/MIXES.md), and what a client counts of them.
//
// Layer: above table.h. Plain values; any thread. Go counterpart: internal/contract/mix.go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kit/table.h"

namespace netdyno::contract {

inline constexpr std::size_t kMostClasses = 64;
/// The largest number that stands for {key}.
inline constexpr std::int64_t kMostKey = (std::int64_t{1} << 53) - 1;

/// One kind of exchange of a load that mixes several.
struct Class {
  std::string name;
  std::int64_t end = 0;  // as of a Segment; 0 where a trace says each exchange's class
  std::int64_t up_bytes = 0;
  std::int64_t down_bytes = 0;
  Table up_sizes = {};
  Table down_sizes = {};
  std::string method = {};       // of HTTP, as path and status
  std::string path = {};         // {key} stands for a number from Load::keys
  std::int64_t status = 0;       // that every reply must have; 0 for any 2xx
  std::int64_t deadline_ns = 0;  // after which an exchange has failed; 0 is without
  std::int64_t think_ns = 0;     // pause of a closed loop after an exchange of the class
  std::string codec = {};        // of its messages
  std::string stream = {};       // directions that travel in chunks
};

/// Whether any class has a deadline.
inline bool have_deadlines(const std::vector<Class>& classes) {
  return std::any_of(classes.begin(), classes.end(), [](const Class& c) { return c.deadline_ns > 0; });
}

/// Whether slots pause after exchanges of any class.
inline bool have_pauses(const std::vector<Class>& classes) {
  return std::any_of(classes.begin(), classes.end(), [](const Class& c) { return c.think_ns > 0; });
}

/// Recorded traffic that a load replays.
struct Trace {
  std::string file;         // on this host
  std::int64_t begins = 0;  // where the body begins in it, in bytes
  std::int64_t from_ns = 0;
  double speed = 0;
  std::int64_t part = 0;  // of parts, in turn, is this client's
  std::int64_t parts = 1;
  bool even = false;   // the larger size goes both ways, at least 1 byte
  bool times = false;  // it says when exchanges are due, and nothing of what they carry
};

/// What a client counted of one class. Histograms are as in Result.
struct ClassResult {
  std::string name;
  std::int64_t exchanges = 0;  // completed inside the window
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
  std::int64_t errors = 0;
  std::int64_t drained = 0;
  std::string service;
  std::string response;
};

/// What a client counted of the exchanges whose larger message has a size of one bin. behind and
/// free are of small exchanges: of those that had a larger one on their connection as they were
/// due or sent, and of the others.
struct SizeBin {
  std::int64_t from_bytes = 0;
  std::int64_t to_bytes = 0;  // exclusive
  std::string service;
  std::string response;
  std::string behind;
  std::string free;
};

}  // namespace netdyno::contract
