// The part of Load that is for exchanges which differ: what each carries, and what is counted of it.
#include <algorithm>

#include "kit/load.h"

namespace netdyno {

/// Makes what exchanges that differ are counted by. In a closed loop those of a connection with one
/// slot cannot wait for each other.
void Load::lay_out_sizes() {
  const bool open = plan_.rate > 0;
  const bool vary = draws_.vary();  // else the times alone are another's
  if (vary)
    sized_ = std::make_unique<SizedTimes>(draws_.largest(), plan_.classes.size(), open, shards_.size() == 1);
  if (contract::have_pauses(plan_.classes)) {
    for (const contract::Class& c : plan_.classes) thinks_.push_back(c.think_ns);
  }
  if (draws_.recording() != nullptr) replay_ = std::make_unique<Replay>(*plan_.trace, draws_);
  const auto in_flight = static_cast<std::size_t>(plan_.in_flight);
  const bool wait = vary && (open || in_flight > 1);
  if (wait) waits_.assign(static_cast<std::size_t>(active_), Waits(in_flight));
  for (std::size_t i = 0; i < slots_.size(); i++) {
    Slot& slot = slots_[i];
    slot.varies_ = true;
    slot.replays_ = replay_ != nullptr;
    slot.number_ = static_cast<std::uint64_t>(position_of(static_cast<std::int64_t>(i)).slot);
    slot.within_ = i % in_flight;
    if (wait) slot.waits_ = &waits_[i / in_flight];
  }
}

std::vector<contract::ClassResult> Load::class_results() const {
  std::vector<contract::ClassResult> all(plan_.classes.size());
  for (std::size_t i = 0; i < all.size(); i++) {
    contract::ClassResult& result = all[i];
    result.name = plan_.classes[i].name;
    for (const auto& shard : shards_) {
      const ClassCounters& window = shard->window->counters.classes[i];
      const ClassCounters& drain = shard->drain.classes[i];
      result.exchanges += window.exchanges.get();
      result.sent_bytes += window.sent_bytes.get();
      result.received_bytes += window.received_bytes.get();
      result.errors += window.errors.get() + drain.errors.get();
      result.drained += drain.exchanges.get();
    }
  }
  if (!all.empty()) sized_->add_to(all);
  return all;
}

bool Slot::next_own(std::int64_t now, std::int64_t& due) {
  if (replays_) {
    if (!replayed(due)) return false;
  } else {
    if (!planned(now, due)) return false;
    draw_ = load_->draws_.of(number_);
    number_ += load_->slots_.size();
  }
  if (waits_ != nullptr) waits_->begin(within_, bin_of(std::max(draw_.up, draw_.down)), due);
  return true;
}

/// Takes the next request of recorded traffic, which is due when it is, whichever slot takes it.
bool Slot::replayed(std::int64_t& due) {
  if (left_ == 0) return false;
  const std::int64_t start = load_->start_ns_.load(std::memory_order_relaxed);
  if (!started_) free_ += start;
  started_ = true;
  const Due taken = load_->replay_->take();
  due = start + taken.at_ns;
  if (due > load_->closing()) {
    passed_ = due;
    return false;
  }
  const Draws& draws = load_->draws_;
  if (!draws.times())
    draw_ = taken.draw;
  else if (draws.vary())
    draw_ = draws.of(taken.number);
  left_--;
  pending_ = due;
  return true;
}

void Slot::count(Counters& counters, std::int64_t sent, std::int64_t now, std::int64_t received) {
  if (!counters.classes.empty()) {
    ClassCounters& of = counters.classes[static_cast<std::size_t>(draw_.of_class)];
    of.exchanges.add(1);
    of.sent_bytes.add(draw_.up);
    of.received_bytes.add(received);
  }
  if (!load_->thinks_.empty()) think_ns_ = load_->thinks_[static_cast<std::size_t>(draw_.of_class)];
  if (load_->sized_ == nullptr) return;
  const int bin = bin_of(std::max(draw_.up, received));
  if (counters.times != nullptr) load_->sized_->record({bin, draw_.of_class, pending_, sent, now}, waits_);
  if (waits_ != nullptr) waits_->end(within_, {sent, now});
}

void Slot::count_failed(Counters& counters) {
  if (!load_->thinks_.empty()) think_ns_ = load_->thinks_[static_cast<std::size_t>(draw_.of_class)];
  if (!counters.classes.empty()) counters.classes[static_cast<std::size_t>(draw_.of_class)].errors.add(1);
  if (waits_ != nullptr) waits_->end(within_, {});
}

}  // namespace netdyno
