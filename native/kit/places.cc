#include "kit/places.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kit/draw.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

std::int64_t clipped(double ns) {
  return ns < static_cast<double>(kNeverDue) ? static_cast<std::int64_t>(ns) : kNeverDue;
}

}  // namespace

Warp::Warp(const std::vector<contract::Phase>& phases, bool repeat) : repeat_(repeat) {
  for (const contract::Phase& p : phases) {
    const double holds = (p.first + p.last) / 2 * (p.lasts_ns / 1e9);
    if (holds > 0) last_ = phases_.size();
    phases_.push_back({lasts_, p.lasts_ns, all_, holds, p.first, p.last});
    all_ += holds;
    lasts_ += p.lasts_ns;
  }
}

/// Each operation rounds by itself, in the order that DRAWS.md has: the build fuses none.
std::int64_t Warp::due_ns(double place) const {
  double base = 0;
  if (repeat_) {
    const double rounds = std::floor(place / all_);
    place = std::max(0.0, place - rounds * all_);
    base = rounds * lasts_;
  } else if (place >= all_) {
    const double rate = phases_.back().last;
    return rate > 0 ? clipped(lasts_ + (place - all_) / rate * 1e9) : kNeverDue;
  }
  const Phase& p = find(place);
  const double y = place - p.before;
  const double slope = (p.last - p.first) / (p.lasts / 1e9);
  const double root = std::sqrt(std::max(0.0, p.first * p.first + 2 * slope * y));
  const double seconds = 2 * y / (p.first + root);
  return clipped(base + p.from + std::min(p.lasts, seconds * 1e9));
}

double Warp::place(double ns) const {
  double base = 0;
  if (repeat_) {
    const double rounds = std::floor(ns / lasts_);
    ns -= rounds * lasts_;
    base = rounds * all_;
  } else if (ns >= lasts_) {
    return all_ + (ns - lasts_) / 1e9 * phases_.back().last;
  }
  for (const Phase& p : phases_) {
    const double in = ns - p.from;
    if (in < p.lasts) return base + p.before + in / 1e9 * (p.first + (p.last - p.first) * in / p.lasts / 2);
  }
  return base + all_;
}

/// The first phase that ends beyond a place, else the last that has any.
const Warp::Phase& Warp::find(double place) const {
  const auto ends_beyond = [](double at, const Phase& p) { return at < p.before + p.holds; };
  const auto found = std::upper_bound(phases_.begin(), phases_.end(), place, ends_beyond);
  return found != phases_.end() ? *found : phases_[last_];
}

Cycle::Cycle(const contract::Table& gaps, std::uint64_t seed) {
  const Drawer drawer(gaps, seed, DrawStream::gaps);
  std::int64_t sum = 0;
  ends_.reserve(kGaps);
  for (std::uint64_t i = 0; i < kGaps; i++) ends_.push_back(sum += drawer.draw(i));
  if (sum == 0) throw Failure(ErrorKind::setup, "load.gaps: every gap is 0");
  scale_ = static_cast<double>(kGaps) / static_cast<double>(sum);
}

std::unique_ptr<const Places> Places::of(const contract::Load& load, std::uint64_t seed) {
  const bool drawn = load.arrival == contract::Arrival::drawn;
  if (!drawn && load.phases.empty()) return nullptr;
  const auto refuse = [](const std::string& text) { throw Failure(ErrorKind::setup, "load." + text); };
  if (!(load.rate > 0)) refuse("rate is 0 with load.phases or arrival drawn: a closed loop has no schedule");
  const std::string wrong = contract::wrong_phases(load.phases);
  if (!wrong.empty()) refuse("phases: " + wrong);
  auto places = std::make_unique<Places>();
  places->rate_ = load.rate;
  if (!load.phases.empty()) places->warp_.emplace(load.phases, load.repeat);
  if (drawn) {
    const std::string torn = contract::wrong_table(load.gaps, Cycle::kMostGap);
    if (!torn.empty()) refuse("gaps: " + torn);
    places->cycle_.emplace(load.gaps, seed);
  }
  return places;
}

std::int64_t Places::due_ns(double place) const {
  if (cycle_) place = cycle_->place(static_cast<std::uint64_t>(place));
  return warp_ ? warp_->due_ns(place) : static_cast<std::int64_t>(place / rate_ * 1e9);
}

double Places::expected(double from_ns, double to_ns) const {
  return warp_ ? warp_->place(to_ns) - warp_->place(from_ns) : rate_ * (to_ns - from_ns) / 1e9;
}

}  // namespace netdyno
