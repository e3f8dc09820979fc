#include "kit/draw.h"

#include <algorithm>
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

Sizes::Sizes(const std::string& field, const contract::Exchange& x, std::uint64_t seed)
    : fixed_{x.up_bytes, x.down_bytes} {
  using Each =
      std::tuple<const char*, const contract::Table&, std::int64_t, DrawStream, std::optional<Drawer>&>;
  for (const auto& [name, table, largest, stream, to] :
       {Each{"up", x.up_sizes, x.up_bytes, DrawStream::up, up_},
        Each{"down", x.down_sizes, x.down_bytes, DrawStream::down, down_}}) {
    if (table.empty()) continue;
    const std::string part = field + "." + std::string(name);
    std::string wrong = contract::wrong_table(table, contract::kMaxFlowMessage);
    if (wrong.empty() && contract::most_of(table) != largest) {
      wrong = "the largest size is " + std::to_string(contract::most_of(table)) + " and " + part +
              "_bytes is " + std::to_string(largest) + ", expected the same";
    }
    if (!wrong.empty()) throw Failure(ErrorKind::setup, part + "_sizes: " + wrong);
    to.emplace(table, seed, stream);
  }
}

Draws::Draws(const contract::Setup& setup) : sizes_("exchange", setup.exchange, setup.seed) {
  if (setup.role == contract::Role::client) {
    take_classes(setup);
    take_trace(setup);
  }
  const std::string& codec = setup.exchange.codec;
  if (!vary() || codec.empty() || codec == "bytes") return;
  throw Failure(ErrorKind::setup, "exchange.up_sizes or down_sizes or load.classes is given with codec " +
                                      codec + ", whose messages have sizes of their own");
}

void Draws::take_classes(const contract::Setup& setup) {
  const std::vector<contract::Class>& all = setup.load.classes;
  const auto refuse = [](const std::string& text) { throw Failure(ErrorKind::setup, "load." + text); };
  if (all.size() > contract::kMostClasses) {
    refuse("classes has " + std::to_string(all.size()) + ", expected at most " +
           std::to_string(contract::kMostClasses));
  }
  contract::Table ends;
  for (const contract::Class& c : all) {
    const std::string field = "load.classes[" + std::to_string(classes_.size()) + "]";
    const contract::Exchange& most = setup.exchange;
    if (c.up_bytes < 0 || c.down_bytes < 0 || c.up_bytes > most.up_bytes || c.down_bytes > most.down_bytes) {
      throw Failure(ErrorKind::setup, field + " has " + std::to_string(c.up_bytes) + " bytes up and " +
                                          std::to_string(c.down_bytes) + " down, and exchange at most " +
                                          std::to_string(most.up_bytes) + " and " +
                                          std::to_string(most.down_bytes));
    }
    const auto number = static_cast<std::int32_t>(classes_.size());
    classes_.emplace_back(field,
                          contract::Exchange{.up_bytes = c.up_bytes,
                                             .down_bytes = c.down_bytes,
                                             .codec = {},
                                             .up_sizes = c.up_sizes,
                                             .down_sizes = c.down_sizes},
                          setup.seed);
    classes_.back().belong_to(number);
    if (c.deadline_ns < 0)
      refuse("classes: a deadline of " + std::to_string(c.deadline_ns) + " ns, expected none below 0");
    deadlines_.push_back(c.deadline_ns);
    ends.push_back({c.end, number, number});
  }
  if (!all.empty() && (!setup.load.trace || setup.load.trace->times)) {
    const std::string wrong = contract::wrong_table(ends, contract::kMostClasses);
    if (!wrong.empty()) refuse("classes: their ends: " + wrong);
    class_.emplace(ends, setup.seed, DrawStream::classes);
  }
  if (setup.load.keys.empty()) return;
  const std::string wrong = contract::wrong_table(setup.load.keys, contract::kMostKey);
  if (!wrong.empty()) refuse("keys: " + wrong);
  keys_.emplace(setup.load.keys, setup.seed, DrawStream::keys);
}

void Draws::take_trace(const contract::Setup& setup) {
  if (!setup.load.trace) return;
  const contract::Trace& trace = *setup.load.trace;
  constexpr double kMostSpeed = 1e6;
  constexpr std::int64_t kMostFirst = 4'096;  // exchanges that connections verify with
  const auto refuse = [](const std::string& text) { throw Failure(ErrorKind::setup, "load.trace" + text); };
  if (!(trace.speed > 0 && trace.speed <= kMostSpeed)) {
    refuse(".speed is " + std::to_string(trace.speed) + ", expected more than 0 up to 1e6");
  }
  if (trace.part < 0 || trace.part >= trace.parts) {
    refuse(".part is " + std::to_string(trace.part) + " of " + std::to_string(trace.parts) +
           ", expected one of them from 0");
  }
  times_ = trace.times;
  if (classes_.empty() && !times_) refuse(" is given without load.classes, which say what its requests are");
  even_ = trace.even;
  recording_ = std::make_shared<const Recording>(trace.file, trace.begins);
  if (times_ && recording_->requests() == 0) refuse(".file: " + trace.file + ": it has no requests");
  if (times_) return;
  RecordingReader reader(*recording_, trace.from_ns);
  const auto wanted =
      static_cast<std::size_t>(std::clamp<std::int64_t>(setup.load.connections, 1, kMostFirst));
  while (first_.size() < wanted) {
    const std::optional<Recorded> request = reader.next();
    if (!request) break;
    first_.push_back(of(*request));
  }
  if (first_.empty()) refuse(".file: " + trace.file + ": nothing is left of it at load.trace.from_ns");
}

Draw Draws::of(const Recorded& request) const {
  Draw draw{request.up, request.down, request.of_class, request.path, 0};
  if (even_) draw.up = draw.down = std::max({std::int64_t{1}, request.up, request.down});
  const Draw most = sizes_.largest();
  if (static_cast<std::size_t>(draw.of_class) < classes_.size() && draw.up <= most.up &&
      draw.down <= most.down)
    return draw;
  throw Failure(ErrorKind::setup, "load.trace.file: a request is of class " + std::to_string(draw.of_class) +
                                      " with " + std::to_string(draw.up) + " bytes up and " +
                                      std::to_string(draw.down) + " down; load.classes has " +
                                      std::to_string(classes_.size()) + ", and exchange at most " +
                                      std::to_string(most.up) + " and " + std::to_string(most.down));
}

Draw Draws::mixed(std::uint64_t n) const {
  if (recording_ && !times_) return first_[n % first_.size()];
  Draw draw = classes_[static_cast<std::size_t>(class_->draw(n))].of(n);
  if (keys_) draw.key = keys_->draw(n);
  return draw;
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
