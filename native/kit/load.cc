#include "kit/load.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kit/random.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Slots of one client in all. The bound keeps a typing error in a study from taking
/// all memory.
constexpr std::int64_t kMaxSlots = 1 << 22;

void check(const contract::Load& plan) {
  const auto refuse = [](const std::string& text) { throw Failure(ErrorKind::setup, "load." + text); };
  if (plan.connections < 1 || plan.connections > kMaxSlots) {
    refuse("connections is " + std::to_string(plan.connections) + ", expected 1 to " +
           std::to_string(kMaxSlots));
  }
  if (plan.in_flight < 1 || plan.in_flight > kMaxSlots / plan.connections) {
    refuse("in_flight is " + std::to_string(plan.in_flight) + " over " + std::to_string(plan.connections) +
           " connections, expected 1 to " + std::to_string(kMaxSlots) + " in all");
  }
  if (!(plan.active_share > 0 && plan.active_share <= 1)) {
    refuse("active_share is " + std::to_string(plan.active_share) + ", expected more than 0 up to 1");
  }
  if (!(plan.rate >= 0 && plan.rate <= 1e9)) {
    refuse("rate is " + std::to_string(plan.rate) + ", expected 0 (closed loop) to 1e9 exchanges per second");
  }
  if (plan.think_ns < 0 || plan.amount < 0 || plan.drain_ns < 0) {
    refuse("think_ns, amount and drain_ns are " + std::to_string(plan.think_ns) + ", " +
           std::to_string(plan.amount) + " and " + std::to_string(plan.drain_ns) +
           ", expected none negative");
  }
  if (plan.deadline_ns < 0 || plan.connect_ns < 0) {
    refuse("deadline_ns and connect_ns are " + std::to_string(plan.deadline_ns) + " and " +
           std::to_string(plan.connect_ns) + ", expected none negative");
  }
  if (plan.gather_ns < 0) {
    refuse("gather_ns is " + std::to_string(plan.gather_ns) + ", expected none negative");
  }
  if (plan.rate > 0 && plan.think_ns > 0) {
    refuse("think_ns is " + std::to_string(plan.think_ns) + " with load.rate " + std::to_string(plan.rate) +
           ": an open loop does not think");
  }
}

}  // namespace

Load::Load(const contract::Setup& setup, int shards)
    : plan_(setup.load),
      seed_(setup.seed),
      turns_(Turns::of(setup.load)),
      events_(setup.events),
      stages_(setup.stages),
      tells_parts_(setup.events || setup.stages),
      event_bytes_(setup.exchange.event_bytes()) {
  check(plan_);
  const double share = plan_.active_share * static_cast<double>(plan_.connections);
  active_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(share - 1e-9)));
  const std::int64_t wide = std::max(1, shards);
  for (std::int64_t i = 0; i < wide; i++) shards_.push_back(std::make_unique<Shard>());
  if (!plan_.classes.empty()) mix_ = std::make_unique<Mix>(setup);
  for (const contract::Class& of : plan_.classes) kinds_.push_back(of.name);
  make_phases();
  encoded(setup.exchange.up_bytes, setup.exchange.down_bytes);
  lay_out();
  if (turns_ && plan_.rate > 0) dues_ = {plan_, seed_, {}, turns_.get()};
}

/// Makes room for what is counted from ready on.
void Load::make_phases() {
  Windows made = new_windows();
  for (std::size_t i = 0; i < shards_.size(); i++) {
    shards_[i]->window = std::move(made[i]);
    shards_[i]->before.kinds = std::vector<KindCounts>(kinds_.size());
    shards_[i]->drain.kinds = std::vector<KindCounts>(kinds_.size());
  }
}

void Load::paths(std::vector<std::string> names) {
  kinds_ = std::move(names);
  make_phases();
}

void Load::encoded(std::int64_t up_bytes, std::int64_t down_bytes) {
  up_bytes_ = up_bytes;
  down_bytes_ = down_bytes;
  for (const auto& shard : shards_) shard->window->times.expected = down_bytes;
}

/// Room for what all shards count in a window.
Load::Windows Load::new_windows() const {
  const auto wide = static_cast<std::int64_t>(shards_.size());
  Windows made;
  for (std::int64_t i = 0; i < wide; i++) {
    Window& window = *made.emplace_back(std::make_unique<Window>());
    window.times.expected = down_bytes_;
    window.times.kinds.resize(kinds_.size());
    window.counters.kinds = std::vector<KindCounts>(kinds_.size());
    if (plan_.rate > 0) window.times.response = std::make_unique<Histogram>();
    if (plan_.rate > 0 || plan_.think_ns > 0) window.times.lag = std::make_unique<Histogram>();
    if (plan_.rate > 0 && !turns_) {
      const std::int64_t connections = (active_ + wide - 1 - i) / wide;
      window.times.sends = std::make_unique<Sends>(
          plan_.rate, static_cast<double>(connections) / static_cast<double>(active_));
    }
  }
  return made;
}

/// By which number schedules know a slot. Consecutive positions belong to
/// different connections, so that the slots of one connection are spread over time.
SlotPosition Load::position_of(std::int64_t slot) const {
  const std::int64_t connection = slot / plan_.in_flight;
  const std::int64_t within = slot % plan_.in_flight;
  return {within * active_ + connection, active_ * plan_.in_flight};
}

/// The schedule of a slot of an open loop from its beginning.
Schedule Load::schedule_of(std::int64_t slot) const {
  return {plan_, seed_, position_of(slot), turns_.get()};
}

void Load::lay_out() {
  const std::int64_t n = active_ * plan_.in_flight;
  slots_.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; i++) {
    Slot& slot = slots_[static_cast<std::size_t>(i)];
    const std::int64_t connection = i / plan_.in_flight;
    const std::int64_t within = i % plan_.in_flight;
    slot.load_ = this;
    slot.shard_ = shards_[static_cast<std::size_t>(connection) % shards_.size()].get();
    slot.number_ = static_cast<std::uint64_t>(position_of(i).slot - n);  // its first one adds n
    if (plan_.amount > 0) {
      // The connection's slots share its amount. The first ones take the remainder.
      slot.left_ = plan_.amount / plan_.in_flight + (within < plan_.amount % plan_.in_flight ? 1 : 0);
    }
    if (plan_.rate > 0) {
      slot.open_ = true;
      slot.schedule_ = schedule_of(i);
      // As if it had run before.
      if (plan_.arrival == contract::Arrival::constant)
        slot.free_ =
            slot.schedule_.peek() - static_cast<std::int64_t>(static_cast<double>(n) / plan_.rate * 1e9);
    } else if (plan_.think_ns > 0) {
      slot.think_ns_ = plan_.think_ns;
      // think_ns · i ÷ n, which could overflow: staggered, so that there is no burst at the start.
      const std::int64_t later = plan_.think_ns / n * i + plan_.think_ns % n * i / n;
      slot.free_ = later - plan_.think_ns;
    }
  }
}

std::span<Slot> Load::slots(std::int64_t connection) {
  if (connection >= active_) return {};
  const auto in_flight = static_cast<std::size_t>(plan_.in_flight);
  return std::span(slots_).subspan(static_cast<std::size_t>(connection) * in_flight, in_flight);
}

void Load::start(std::int64_t now) {
  start_ns_ = now;
  if (turns_) make_room();
  if (plan_.amount > 0 && !open_) open(now);
}

void Load::open(std::int64_t now) {
  if (ended()) return;
  open_ = true;
  from_ns_ = now;
  for (const auto& shard : shards_) {
    Window& window = *shard->window;
    if (window.times.sends) window.times.sends->open(now, now + Sends::stretch(plan_.rate));
    window.counters.parts.enter({.from = now}, true);
    shard->phase = &window.counters;
  }
}

std::int64_t Load::in_turn(std::int64_t at) const {
  const std::int64_t start = start_ns_.load(std::memory_order_relaxed);
  return start + turns_->next(at - start);
}

std::int64_t Load::take_due() {
  const std::lock_guard lock(dues_mutex_);
  const std::int64_t due = dues_.peek();
  dues_.advance();
  return due;
}

void Load::make_room() {
  if (spare_.empty()) spare_ = new_windows();
}

void Load::part(std::int64_t now) {
  if (!open_ || ended())
    throw Failure(ErrorKind::invalid,
                  "mark with part came while no window is open (CONTRACT.md, section Turns)");
  make_room();
  for (std::size_t i = 0; i < shards_.size(); i++) shards_[i]->window.swap(spare_[i]);
  parts_.push_back({from_ns_, now, std::exchange(spare_, {})});
  open(now);
}

std::optional<contract::Result> Load::closed_part() {
  Part& part = parts_.front();
  for (; part.settled < shards_.size(); part.settled++) {
    if (shards_[part.settled]->counting.load(std::memory_order_acquire)) return std::nullopt;
  }
  contract::Result result;
  result.from_ns = part.from;
  result.to_ns = part.to;
  std::vector<const Window*> windows;
  for (const auto& window : part.windows) {
    window->counters.add_to(result.counts, up_bytes_);
    window->counters.add_to(past_, up_bytes_);
    past_sent_ += window->counters.sent();
    windows.push_back(window.get());
  }
  if (!past_times_) past_times_ = std::make_unique<Histogram>();
  past_times_->merge(tell(windows, {}, result));
  tell_kinds(windows, false, result);
  tell_parts(windows, {}, result);
  parts_.pop_front();
  return result;
}

void Load::end(std::int64_t now) {
  if (ended()) return;
  close_ns_ = now;
  for (const auto& shard : shards_) {
    shard->drain.times = &shard->window->times;
    shard->drain.parts.enter({from_ns_, now}, false);
    shard->phase = &shard->drain;
  }
}

std::vector<const Window*> Load::windows() const {
  std::vector<const Window*> last;
  for (const auto& shard : shards_) last.push_back(shard->window.get());
  return last;
}

/// The last one, and those that were not read yet.
std::vector<const Window*> Load::all_windows() const {
  std::vector<const Window*> all = windows();
  for (const Part& part : parts_) {
    for (const auto& window : part.windows) all.push_back(window.get());
  }
  return all;
}

/// Sums since ready over the phases before the last window.
contract::Counts Load::past_counts() const {
  contract::Counts sum = past_;
  for (const auto& shard : shards_) shard->before.add_to(sum, up_bytes_);
  for (const Part& part : parts_) {
    for (const auto& window : part.windows) window->counters.add_to(sum, up_bytes_);
  }
  return sum;
}

contract::Counts Load::counts() const {
  contract::Counts sum = past_counts();
  for (const auto& shard : shards_) {
    shard->window->counters.add_to(sum, up_bytes_);
    shard->drain.add_to(sum, up_bytes_);
  }
  return sum;
}

contract::Counts Load::snapshot() const {
  contract::Counts sum = past_counts();
  if (!ended()) return sum;
  for (const auto& shard : shards_) shard->window->counters.add_to(sum, up_bytes_);
  return sum;
}

std::optional<contract::TickTimes> Load::slice() {
  std::vector<const Histogram*> histograms;
  if (past_times_) histograms.push_back(past_times_.get());
  for (const Window* window : all_windows())
    histograms.push_back(window->times.response ? window->times.response.get() : &window->times.service);
  if (!slicer_) slicer_.emplace();
  return slicer_->next(histograms);
}

contract::Sent Load::sent() const {
  contract::Sent sent;
  sent.window = past_sent_;
  for (const Window* window : all_windows()) sent.window += window->counters.sent();
  for (const auto& shard : shards_) {
    sent.before += shard->before.sent();
    sent.drain += shard->drain.sent();
    sent.again += shard->again.get();
  }
  for (const Slot& slot : slots_) sent.drain += slot.out_ ? 1 : 0;
  return sent;
}

contract::Result Load::result(std::int64_t now) {
  end(now);
  contract::Result result;
  result.to_ns = close_ns_;
  result.from_ns = open_ ? from_ns_ : result.to_ns;
  contract::Counts drained;
  Reasons reasons;
  for (const auto& shard : shards_) {
    shard->window->counters.add_to(result.counts, up_bytes_);
    shard->drain.add_to(drained, up_bytes_);
    reasons.merge(shard->drain.reasons);
  }
  result.drained = drained.exchanges;
  for (std::size_t kind = 0; kind < contract::kErrorKinds; kind++)
    result.counts.errors[kind] += drained.errors[kind];
  const Histogram times = tell(windows(), std::move(reasons), result);
  tell_kinds(windows(), true, result);
  result.arrivals = arrivals();
  // Before the schedules are walked to their end.
  if (open_ && !turns_) result.inside = inside(result.counts.exchanges, times);
  Waits waits;
  const Histogram ages = unfinished(now, result, waits);
  tell_parts(windows(), std::move(waits), result);
  result.unfinished = ages.count();
  result.ages = ages.encode();
  return result;
}

/// Enters a window's histograms and reasons, and further ones. Returns the times by which the exchanges
/// of a slot follow each other: response times in an open loop, else service times.
Histogram Load::tell(const std::vector<const Window*>& windows, Reasons reasons,
                     contract::Result& into) const {
  Histogram service;
  Histogram response;
  Histogram lag;
  Histogram lengths;
  Histogram late;
  for (const Window* window : windows) {
    const Times& times = window->times;
    reasons.merge(window->counters.reasons);
    service.merge(times.service);
    if (times.response) response.merge(*times.response);
    if (times.lag) lag.merge(*times.lag);
    if (times.lengths) lengths.merge(*times.lengths);
    if (times.late) late.merge(*times.late);
  }
  into.reasons = reasons.most();
  into.over_max = service.over_max() + response.over_max() + lag.over_max();
  into.service = service.encode();
  into.response = response.encode();
  into.lag = lag.encode();
  into.late = late.encode();
  if (const std::int64_t varied = lengths.count(); varied > 0) {
    if (service.count() > varied) lengths.record(down_bytes_, service.count() - varied);
    into.lengths = lengths.encode();
  }
  return plan_.rate > 0 ? response : service;
}

/// Enters what windows counted of each kind of exchange; the last one also what drained after it. The
/// histograms of the rarest are left out where all would not fit into a line.
void Load::tell_kinds(const std::vector<const Window*>& windows, bool last, contract::Result& into) const {
  constexpr std::size_t kMostText = 512 << 10;
  std::vector<contract::ClassResult>& all = mix_ ? into.classes : into.paths;
  const auto add_errors = [](contract::ClassResult& to, const KindCounts& k) {
    to.errors += k.errors.get();
    to.late += k.late.get();
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kinds_.size(); i++) {
    contract::ClassResult& to = all.emplace_back();
    order.push_back(i);
    to.name = kinds_[i];
    for (const Window* window : windows) {
      const KindCounts& k = window->counters.kinds[i];
      to.exchanges += k.exchanges.get();
      to.sent_bytes += k.sent.get();
      to.received_bytes += k.received.get();
      add_errors(to, k);
    }
    for (std::size_t s = 0; last && s < shards_.size(); s++) {
      to.drained += shards_[s]->drain.kinds[i].exchanges.get();
      add_errors(to, shards_[s]->drain.kinds[i]);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&all](std::size_t a, std::size_t b) { return all[a].exchanges > all[b].exchanges; });
  std::size_t text = 0;
  for (const std::size_t i : order) {
    for (const auto& [of, to] :
         {std::pair{&KindTimes::service, &all[i].service}, {&KindTimes::response, &all[i].response}}) {
      Histogram sum;
      for (const Window* window : windows) {
        if (const auto& times = window->times.kinds[i].*of) sum.merge(*times);
      }
      const std::string encoded = sum.encode();
      if ((text += encoded.size()) <= kMostText) *to = encoded;
    }
  }
}

void Slot::begin_class() {
  number_ += load_->slots_.size();
  kind_ = static_cast<std::uint32_t>(load_->mix_->class_of(number_));
  carries(load_->plan_.classes[kind_].up_bytes - load_->up_bytes_);
}

void Slot::tell_kind(Counters& counters, const Completion& c) const {
  KindCounts& k = counters.kinds[kind_];
  k.exchanges.add(1);
  k.sent.add(load_->up_bytes_ + more_);
  k.received.add(c.received);
  if (counters.times == nullptr) return;
  KindTimes& times = counters.times->kinds[kind_];
  record_in(times.service, c.now - c.sent);
  if (open_) record_in(times.response, c.now - c.due);
}

void Slot::tell_parts(std::int64_t events, std::int64_t now) {
  if (waits_for_byte()) {
    replied_ = true;
    if (Counters& counters = shard_->begin(); counters.times != nullptr)
      record_in(counters.times->stages.first_byte, now - pending_);
    shard_->counted();
  }
  if (load_->events_) tell_events(events, now);
}

void Slot::connected(std::int64_t ns) {
  if (Counters& counters = shard_->begin(); counters.times != nullptr)
    record_in(counters.times->stages.connect, ns);
  shard_->counted();
}

void Slot::shook_hands(std::int64_t ns, bool resumed) {
  Counters& counters = shard_->begin();
  if (resumed) counters.resumed.add(1);
  if (counters.times != nullptr) record_in(counters.times->stages.handshake, ns);
  shard_->counted();
}

void Slot::tell_events(std::int64_t ended, std::int64_t now) {
  Counters& counters = shard_->begin();
  EventTimes* const times = counters.times == nullptr ? nullptr : &counters.times->events;
  for (; ended > 0; ended--) {
    counters.events.add(1);
    const std::int64_t last = std::exchange(event_ns_, now);
    if (times != nullptr)
      record_in(last == 0 ? times->first : times->gaps, now - (last == 0 ? pending_ : last));
  }
  shard_->counted();
}

/// Enters what windows counted of events and of stages, and the ages of exchanges that wait for one,
/// where setup asks.
void Load::tell_parts(const std::vector<const Window*>& windows, Waits waits, contract::Result& into) const {
  const auto encoded = [&windows](auto of, Histogram sum = {}) {
    for (const Window* window : windows) {
      if (const auto& times = of(window->times)) sum.merge(*times);
    }
    return sum.encode();
  };
  if (events_) {
    contract::Events& events = into.events.emplace();
    for (const Window* window : windows) events.count += window->counters.events.get();
    events.first = encoded([](const Times& t) -> auto& { return t.events.first; });
    events.gaps = encoded([](const Times& t) -> auto& { return t.events.gaps; });
    events.waiting = encoded(
        [](const Times& t) -> auto& { return t.events.waiting; }, std::move(waits.event));
  }
  if (!stages_) return;
  contract::Stages& stages = into.stages.emplace();
  for (const Window* window : windows) stages.resumed += window->counters.resumed.get();
  stages.connect = encoded([](const Times& t) -> auto& { return t.stages.connect; });
  stages.handshake = encoded([](const Times& t) -> auto& { return t.stages.handshake; });
  stages.first_byte = encoded([](const Times& t) -> auto& { return t.stages.first_byte; });
  stages.waiting = encoded(
      [](const Times& t) -> auto& { return t.stages.waiting; }, std::move(waits.byte));
}

void Slot::fail_kind(Counters& counters, contract::ErrorKind kind) const {
  counters.kinds[kind_].errors.add(1);
  if (kind == contract::ErrorKind::timeout) counters.kinds[kind_].late.add(1);
}

contract::Inside Load::inside(std::int64_t completed, const Histogram& times) const {
  const Span window{from_ns_, closing()};
  const auto whole = static_cast<double>(completed);
  contract::Inside in{.exchanges = whole, .cycles = whole + waiting(window, times)};
  for (const auto& shard : shards_) {
    for (const Parts* parts : {&shard->window->counters.parts, &shard->drain.parts}) {
      in.exchanges += parts->exchanges();
      in.cycles += parts->cycles();
      in.idle_ns += parts->idle_ns();
    }
  }
  if (plan_.rate > 0) {
    in.idle_ns = 0;  // an open loop waits for its schedule
    in.due = fell_due(window);
  }
  return in;
}

/// The parts inside the window of the cycles of slots that waited, when it closed, for a
/// due time to come. Each such cycle would have ended once the exchange due next had
/// taken the mean time.
double Load::waiting(Span window, const Histogram& times) const {
  if ((plan_.rate == 0 && plan_.think_ns == 0) || times.count() == 0) return 0;
  const auto takes = static_cast<std::int64_t>(times.mean());
  const std::int64_t start = start_ns_;
  double sum = 0;
  for (const Slot& slot : slots_) {
    const std::int64_t due = slot.due_after(window.to, start);
    if (due == Slot::kIdle) continue;
    sum += window.share(slot.started_ ? slot.free_ : start + slot.free_, due + takes);
  }
  return sum;
}

std::int64_t Slot::age(std::int64_t now) const {
  const std::int64_t limit = load_->plan_.deadline(load_->mix_ ? kind_ : 0);
  return limit > 0 && !open_ ? std::min(now - pending_, limit) : now - pending_;
}

std::int64_t Slot::due_after(std::int64_t closing, std::int64_t start) const {
  std::int64_t due = pending_;
  if (due == kIdle) {
    if (left_ == 0) return kIdle;
    due = open_ ? start + schedule_.peek() : (started_ ? free_ : start + free_) + think_ns_;
  }
  return due > closing ? due : kIdle;
}

/// How many exchanges the schedules had due in the window, with a gap between due times
/// that spans an edge counted by its share inside. Random schedules are drawn again; of
/// very many due times the rate alone is off by 0.1 % at most.
double Load::fell_due(Span window) const {
  constexpr double kReplayMost = 1 << 20;
  const std::int64_t start = start_ns_;
  const auto since = [start](std::int64_t at) { return static_cast<double>(at - start); };
  const bool even = plan_.arrival == contract::Arrival::constant;
  if (even || plan_.rate * since(window.to) / 1e9 > kReplayMost)
    return plan_.rate * (since(window.to) - since(window.from)) / 1e9;
  double due = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(slots_.size()); i++) {
    Schedule schedule = schedule_of(i);
    for (std::int64_t last = start; last < window.to; schedule.advance()) {
      const std::int64_t next = start + schedule.peek();
      due += window.share(last, next);
      last = next;
    }
  }
  return due;
}

/// The gaps between the client's sends, from the window's opening to the end of the
/// stretch or of the window. They stop at the earliest send that a full shard could
/// not keep: before it, every shard kept all sends. None in a closed loop.
std::optional<contract::Arrivals> Load::arrivals() const {
  if (!open_) return std::nullopt;
  std::vector<std::int64_t> all;
  std::int64_t until = closing();
  for (const auto& shard : shards_) {
    const Sends* const sends = shard->window->times.sends.get();
    if (sends == nullptr) return std::nullopt;
    until = std::min(until, sends->whole_until());
    const std::vector<std::int64_t>& instants = sends->instants();
    all.insert(all.end(), instants.begin(), instants.end());
  }
  return gaps_of(all, from_ns_, until);
}

/// Ages, counted from the due time, of exchanges that were due before the end and
/// have not completed, including those that the schedule never got to send.
Histogram Load::unfinished(std::int64_t now, contract::Result& into, Waits& waits) {
  Histogram ages;
  const auto unsent = [&](std::int64_t due) {
    for (Histogram* const each : {&ages, &waits.event, &waits.byte}) each->record(now - due);
  };
  const std::int64_t start = start_ns_;
  const std::int64_t close = close_ns_;
  if (start == 0) return ages;
  for (Slot& slot : slots_) {
    if (slot.pending_ <= close) {
      ages.record(now - slot.pending_);
      if (slot.waits_for_event()) waits.event.record(now - slot.pending_);
      if (slot.waits_for_byte()) waits.byte.record(now - slot.pending_);
      if (!kinds_.empty()) (mix_ ? into.classes : into.paths)[slot.kind_].unfinished++;
    }
    if (!slot.open_ || turns_) continue;
    for (; slot.left_ > 0 && start + slot.schedule_.peek() <= close; slot.schedule_.advance()) {
      unsent(start + slot.schedule_.peek());
      slot.left_--;
    }
  }
  if (turns_ && plan_.rate > 0) {
    for (std::int64_t due = take_due(); start + due <= close; due = take_due()) unsent(start + due);
  }
  return ages;
}

Schedule::Schedule(const contract::Load& load, std::uint64_t seed, SlotPosition position, const Turns* turns)
    : turns_(turns), poisson_(load.arrival == contract::Arrival::poisson) {
  constexpr double kSecond = 1e9;
  first_ = (static_cast<double>(position.slot) + 0.5) / load.rate * kSecond;
  step_ = static_cast<double>(position.slots) / load.rate * kSecond;
  // Neighbouring slots get unrelated streams: the slot's number is mixed first.
  random_ = seed ^ mix(static_cast<std::uint64_t>(position.slot) + 1);
  at_ = poisson_ ? exponential() * step_ : first_;
  due_ = due();
}

std::uint64_t Schedule::draw() { return split_mix(random_); }

}  // namespace netdyno
