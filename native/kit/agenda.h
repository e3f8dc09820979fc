// The slots of one loop: which wait until their next exchange is due, and how many still have
// exchanges to make; how the loop waits; and which exchanges are under way on a connection.
//
// Layer: above load. Only one loop's thread uses them. Entries name a connection and a
// slot by number, so an agenda may outlive both. It allocates while slots are added,
// and when a connection waits for the first time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "kit/load.h"

namespace netdyno {

class Agenda {
 public:
  struct Entry {
    std::int64_t due;
    std::uint32_t connection;  // the loop's own numbering
    std::uint32_t slot;        // within the connection
  };

  /// Later than any instant: nothing is due.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  /// In the place of a slot: the connection asked by watch to be looked at.
  static constexpr std::uint32_t kWatch = std::numeric_limits<std::uint32_t>::max();

  /// Adds n slots. Each may wait once at a time.
  void hold(std::size_t n) {
    held_ += n;
    heap_.reserve(held_);
  }
  void let_go(std::size_t n = 1) { held_ -= n; }
  /// Slots not yet released. 0 means that the loop's load is over.
  std::size_t held() const { return held_; }
  /// Of them, those that wait for nothing but their peer.
  std::size_t in_flight() const { return held_ + stale_ - heap_.size(); }

  /// Asks a slot for its next exchange. True when it is due at now. Else the slot waits
  /// here until it is due, or is released when it has no exchange left.
  bool ask(Slot& slot, std::int64_t now, std::uint32_t connection, std::uint32_t number) {
    std::int64_t due = 0;
    if (!slot.next(now, due)) {
      let_go();
      return false;
    }
    const bool now_due = due <= latest(now);
    if (!now_due) wait({due, connection, number});
    return now_due;
  }

  void wait(Entry entry) {
    if (entry.connection >= own_.size()) own_.resize(entry.connection + 1);
    Own& own = own_[entry.connection];
    if (own.stale > 0) [[unlikely]]
      sweep([&entry](const Entry& e) { return e.connection == entry.connection; });
    own.slots++;
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  std::int64_t next_due() const {
    const std::int64_t due = next_slot();
    return watches_.empty() ? due : std::min(due, watches_.front().due);
  }

  /// Has the connection looked at, whatever becomes of it: an entry with kWatch falls due. One for each
  /// connection at a time is enough.
  void watch(std::int64_t due, std::uint32_t connection) {
    watches_.push_back({due, connection, kWatch});
    std::push_heap(watches_.begin(), watches_.end(), later);
  }

  /// Lets slots that are due within ns of each other wait, until an instant at which all of
  /// them go out; 0 lets none wait. Of an open loop, before its first slot is asked.
  void gather(std::int64_t ns) { gathered_ = ns; }
  /// Whether the entry that is due first is to be taken now.
  bool is_due(std::int64_t now) const { return next_due() <= latest(now); }
  /// When the next entry is to be taken; kNever while there is none.
  std::int64_t wakes_at() const {
    const std::int64_t due = next_due();
    if (gathered_ == 0 || due == kNever) return due;
    const std::int64_t behind = due % gathered_;
    return behind == 0 ? due : due + gathered_ - behind;
  }

  /// Removes and returns the entry that is due first. Call it only when next_due() is
  /// not kNever.
  Entry take() {
    if (!watches_.empty() && watches_.front().due <= next_slot()) {
      std::pop_heap(watches_.begin(), watches_.end(), later);
      const Entry entry = watches_.back();
      watches_.pop_back();
      return entry;
    }
    const Entry entry = pop();
    settle();
    return entry;
  }

  /// Removes and releases every slot that is due after closing.
  void end(std::int64_t closing) {
    sweep([closing](const Entry& e) { return e.due > closing; });
  }

  /// Releases the waiting slots of a lost connection: at once, and they leave the heap when their
  /// turn comes, so that many connections may be lost at one time.
  void forget(std::uint32_t connection) {
    if (connection >= own_.size()) return;
    Own& own = own_[connection];
    held_ -= own.slots;
    stale_ += own.slots;
    own = {0, own.stale + own.slots};
    settle();
  }

 private:
  /// What was due until then goes out at now.
  std::int64_t latest(std::int64_t now) const { return gathered_ == 0 ? now : now - now % gathered_; }
  static bool later(const Entry& a, const Entry& b) { return a.due > b.due; }
  std::int64_t next_slot() const { return heap_.empty() ? kNever : heap_.front().due; }

  /// How many entries of a connection are in the heap: those that count, or those forgotten.
  struct Own {
    std::uint32_t slots = 0;
    std::uint32_t stale = 0;
  };

  Entry pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    Own& own = own_[entry.connection];
    (own.stale > 0 ? own.stale : own.slots)--;
    return entry;
  }

  /// Sees to it that the first entry is not one that was forgotten.
  void settle() {
    while (stale_ > 0 && !heap_.empty() && own_[heap_.front().connection].stale > 0) {
      pop();
      stale_--;
    }
  }

  /// Removes the entries that go, and releases those slots that were not forgotten.
  template <class Goes>
  void sweep(Goes goes) {
    std::erase_if(heap_, [&](const Entry& e) {
      if (!goes(e)) return false;
      Own& own = own_[e.connection];
      if (own.stale > 0) {
        own.stale--;
        stale_--;
      } else {
        own.slots--;
        held_--;
      }
      return true;
    });
    std::make_heap(heap_.begin(), heap_.end(), later);
    settle();
  }

  std::vector<Entry> heap_;
  std::vector<Entry> watches_;  // a heap, too
  std::vector<Own> own_;        // by connection
  std::size_t held_ = 0;
  std::size_t stale_ = 0;  // of the heap: forgotten
  std::int64_t gathered_ = 0;
};

/// How a client's loop waits: until when it sleeps, and whether it looks for events instead.
///
/// Only its loop's thread uses it.
class Pace {
 public:
  /// agenda outlives it.
  explicit Pace(const Agenda& agenda) : agenda_(agenda) {}

  /// From now on the loop polls: while the next exchange is due within ns, and while one is
  /// in flight, for ns after the last event. 0 lets it always sleep.
  void spin(std::int64_t ns) { spin_ = ns; }
  bool polls() const { return spin_ > 0; }

  /// An event came, or the loop slept until one.
  void stirred(std::int64_t now) {
    if (polls()) until_ = now + spin_;
  }
  /// Whether the loop, which has nothing to do at now, looks again at once.
  bool looks_again(std::int64_t now) const {
    if (!polls()) return false;
    const std::int64_t wakes = agenda_.wakes_at();
    if (wakes != Agenda::kNever && wakes - now < spin_) return true;
    return now < until_ && agenda_.in_flight() > 0;
  }
  /// Until when a loop sleeps that does not look again: with polling a little before the
  /// next exchange, because a sleeper wakes late. Agenda::kNever while none waits.
  std::int64_t sleeps_until() const {
    const std::int64_t wakes = agenda_.wakes_at();
    return wakes == Agenda::kNever ? wakes : wakes - spin_;
  }

 private:
  const Agenda& agenda_;
  std::int64_t spin_ = 0;
  std::int64_t until_ = 0;
};

/// One connection's exchanges on a wire that answers in order: which slot each belongs to, and when it was
/// sent.
///
/// Only one loop's thread uses it, as it does the slots. It allocates once, in begin.
class Flights {
 public:
  /// number is the connection's in the loop's numbering; agenda outlives this.
  Flights(std::uint32_t number, std::span<Slot> slots, Agenda& agenda)
      : number_(number), slots_(slots), agenda_(agenda) {}

  std::size_t slots() const { return slots_.size(); }

  /// Asks every slot for its first exchange. Once.
  void begin(std::int64_t now) {
    ring_.resize(std::bit_ceil(std::max<std::size_t>(1, slots_.size())));
    mask_ = ring_.size() - 1;
    agenda_.hold(slots_.size());
    for (std::uint32_t slot = 0; slot < slots_.size(); slot++) ask(slot, now);
  }

  /// The slot's exchange is due: it queues behind the others.
  void queue(std::uint32_t slot) { ring_[queued_++ & mask_].slot = slot; }

  /// Exchanges that ended.
  std::uint64_t over() const { return answered_; }
  /// The slot of the first exchange that waits.
  Slot& next_slot() { return slots_[ring_[begun_ & mask_].slot]; }

  /// Exchanges that wait to be sent.
  std::uint64_t waiting() const { return queued_ - begun_; }
  /// Exchanges sent, at least in part, and not answered.
  std::uint64_t in_flight() const { return begun_ - answered_; }

  /// The first n that wait are being sent now.
  void sending(std::uint64_t n, std::int64_t now) {
    for (std::uint64_t i = begun_; n > 0; i++, n--) ring_[i & mask_].sent = now;
  }
  /// The first n that wait were sent, the last of them at least in part.
  void sent(std::uint64_t n) {
    for (; n > 0; n--) slots_[ring_[begun_++ & mask_].slot].goes_out();
  }

  /// When the oldest exchange in flight was sent. Only where there is one.
  std::int64_t oldest_sent() const { return ring_[answered_ & mask_].sent; }
  /// The newest exchange in flight waits to be sent again.
  void unsend() { begun_--; }

  /// n bytes came of replies of so many bytes each, where had of the oldest in flight's had come. All
  /// in flight but the last sent ones, which are partial, may complete. Returns what is left.
  std::int64_t came(std::int64_t had, std::int64_t n, std::int64_t bytes, std::int64_t now,
                    std::uint64_t partial = 0) {
    std::int64_t have = had + n;
    for (; have > 0 && in_flight() > 0; had = 0) {
      slots_[ring_[answered_ & mask_].slot].came(had, std::min(have, bytes), now);
      if (have < bytes || in_flight() <= partial) break;
      have -= bytes;
      answered(bytes, now);
    }
    return have;
  }

  /// The oldest exchange in flight completed with that many bytes. Asks its slot for
  /// the next one.
  void answered(std::int64_t bytes, std::int64_t now) {
    const Flight flight = ring_[answered_++ & mask_];
    slots_[flight.slot].done(flight.sent, now, bytes);
    ask(flight.slot, now);
  }

  /// The oldest exchange in flight failed with kind because of why, and the connection
  /// goes on. Asks its slot for the next one.
  void failed(contract::ErrorKind kind, std::int64_t now, std::string_view why) {
    const std::uint32_t slot = ring_[answered_++ & mask_].slot;
    slots_[slot].fail(kind, now, why);
    ask(slot, now);
  }

  /// The same for the first exchange that waits. Only with none in flight.
  void failed_waiting(contract::ErrorKind kind, std::int64_t now, std::string_view why) {
    begun_++;
    failed(kind, now, why);
  }

  /// The connection is lost: every exchange that is in flight or queued fails with
  /// kind, and every slot is released.
  void abandon(contract::ErrorKind kind, std::int64_t now, std::string_view why = {}) {
    agenda_.forget(number_);
    for (; answered_ < queued_; answered_++) {
      slots_[ring_[answered_ & mask_].slot].fail(kind, now, why);
      agenda_.let_go();
    }
    begun_ = queued_;
  }

 private:
  struct Flight {
    std::uint32_t slot = 0;
    std::int64_t sent = 0;
  };

  void ask(std::uint32_t slot, std::int64_t now) {
    if (agenda_.ask(slots_[slot], now, number_, slot)) queue(slot);
  }

  std::uint32_t number_;
  std::span<Slot> slots_;
  Agenda& agenda_;

  // A ring. Its three positions only grow: answered_ ≤ begun_ ≤ queued_. A slot is in
  // it at most once.
  std::vector<Flight> ring_;
  std::uint64_t mask_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t queued_ = 0;
};

}  // namespace netdyno
