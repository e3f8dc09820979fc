#include "kit/draw.h"

#include <charconv>
#include <cmath>
#include <string>
#include <tuple>

namespace netdyno::contract {

std::string wrong_table(const Table& table, std::int64_t most) {
  if (table.empty() || table.size() > kMostSegments) {
    return std::to_string(table.size()) + " segments, expected 1 to " + std::to_string(kMostSegments);
  }
  std::int64_t last = 0;
  for (std::size_t i = 0; i < table.size(); i++) {
    const Segment& s = table[i];
    const std::string name = "segment " + std::to_string(i);
    if (s.end <= last || s.end > kTableEnd) {
      return name + " ends at " + std::to_string(s.end) + " after " + std::to_string(last) +
             ", expected rising ends up to 2^32";
    }
    if (s.low < 0 || s.high < s.low || s.high > most) {
      return name + " has the numbers " + std::to_string(s.low) + " to " + std::to_string(s.high) +
             ", expected them rising, from 0 to " + std::to_string(most);
    }
    last = s.end;
  }
  return last == kTableEnd ? "" : "the last segment does not end at 2^32";
}

std::string wrong_phases(const std::vector<Phase>& phases) {
  constexpr double kMostNs = 1e15;
  constexpr double kMostRate = 1e9;
  if (phases.size() > kMostPhases) {
    return std::to_string(phases.size()) + " phases, expected at most " + std::to_string(kMostPhases);
  }
  bool some = phases.empty();
  for (std::size_t i = 0; i < phases.size(); i++) {
    const Phase& p = phases[i];
    const std::string name = "phase " + std::to_string(i);
    if (!(p.lasts_ns >= 1 && p.lasts_ns <= kMostNs) || p.lasts_ns != std::trunc(p.lasts_ns)) {
      return name + " lasts " + std::to_string(p.lasts_ns) + " ns, expected a whole number from 1 to 1e15";
    }
    if (!(p.first >= 0 && p.first <= kMostRate && p.last >= 0 && p.last <= kMostRate)) {
      return name + " goes from " + std::to_string(p.first) + " to " + std::to_string(p.last) +
             " exchanges per second, expected 0 to 1e9";
    }
    some = some || p.first > 0 || p.last > 0;
  }
  return some ? "" : "no phase has a rate above 0";
}

}  // namespace netdyno::contract

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

Drawer::Drawer(const contract::Table& table, std::uint64_t seed, DrawStream stream)
    : base_(begin_of(stream, seed)), guide_(std::size_t{1} << kGuideBits) {
  for (const contract::Segment& s : table) {
    segments_.push_back({static_cast<std::uint64_t>(s.end), static_cast<std::uint64_t>(s.low),
                         static_cast<std::uint64_t>(s.high - s.low) + 1});
  }
  std::uint16_t at = 0;
  for (std::size_t g = 0; g < guide_.size(); g++) {
    while (segments_[at].end <= std::uint64_t{g} << (32 - kGuideBits)) at++;
    guide_[g] = at;
  }
}

Draws::Draws(const contract::Setup& setup) : fixed_{setup.exchange.up_bytes, setup.exchange.down_bytes} {
  const contract::Exchange& x = setup.exchange;
  using Each =
      std::tuple<const char*, const contract::Table&, std::int64_t, DrawStream, std::optional<Drawer>&>;
  for (const auto& [name, table, largest, stream, to] :
       {Each{"up", x.up_sizes, x.up_bytes, DrawStream::up, up_},
        Each{"down", x.down_sizes, x.down_bytes, DrawStream::down, down_}}) {
    if (table.empty()) continue;
    const std::string field = "exchange." + std::string(name);
    std::string wrong = contract::wrong_table(table, contract::kMaxFlowMessage);
    if (wrong.empty() && contract::most_of(table) != largest) {
      wrong = "the largest size is " + std::to_string(contract::most_of(table)) + " and " + field +
              "_bytes is " + std::to_string(largest) + ", expected the same";
    }
    if (!wrong.empty()) throw Failure(ErrorKind::setup, field + "_sizes: " + wrong);
    to.emplace(table, setup.seed, stream);
  }
  if (!vary() || x.codec.empty() || x.codec == "bytes") return;
  throw Failure(ErrorKind::setup, "exchange.up_sizes or down_sizes is given with codec " + x.codec +
                                      ", whose messages have sizes of their own");
}

void AskedDown::read(std::string_view value, std::int64_t most) {
  text = value.substr(0, kKept);
  bytes = -1;
  std::int64_t said = 0;
  const char* const end = value.data() + value.size();
  const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
  const auto [stopped, error] = std::from_chars(value.data(), end, said);
  if (digits && stopped == end && error == std::errc() && said <= most) bytes = said;
}

std::string AskedDown::problem(std::int64_t most) const {
  std::string said = text;
  for (char& c : said) {
    if (c < ' ' || c > '~') c = '?';
  }
  return std::string("header ") + kDownHeader + " is \"" + said + "\", expected a length of 0 to " +
         std::to_string(most) + " bytes";
}

}  // namespace netdyno
