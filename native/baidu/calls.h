// One connection's calls: which slot each belongs to, and when it was sent. Replies come in
// any order; their correlation ids say which call they answer.
//
// Layer: above load, agenda. Only one loop's thread uses it, as it does the slots. It
// allocates once, in begin. kit/flights.h does the same for wires that answer in order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kit/agenda.h"
#include "kit/load.h"

namespace netdyno::baidu {

class Calls {
 public:
  /// number is the connection's in the loop's numbering; agenda outlives this.
  Calls(std::uint32_t number, std::span<Slot> slots, Agenda& agenda)
      : number_(number), slots_(slots), agenda_(agenda) {}

  std::size_t slots() const { return slots_.size(); }

  /// Asks every slot for its first exchange. Once.
  void begin(std::int64_t now) {
    calls_.resize(slots_.size());
    ring_.resize(std::bit_ceil(std::max<std::size_t>(1, slots_.size())));
    agenda_.hold(slots_.size());
    // A slot's ids grow by the number of slots, so that an id modulo that number is the
    // slot. Id 1 was the verified exchange's.
    for (std::uint32_t slot = 0; slot < slots_.size(); slot++) {
      calls_[slot].next_id = static_cast<std::int64_t>(2 * slots_.size() + slot);
      ask(slot, now);
    }
  }

  /// The slot's exchange is due: it queues behind the others.
  void queue(std::uint32_t slot) {
    calls_[slot].busy = true;
    ring_[queued_++ & (ring_.size() - 1)] = slot;
  }
  /// Whether slots are queued.
  bool waiting() const { return taken_ < queued_; }
  /// Removes the first queued slot.
  std::uint32_t take() { return ring_[taken_++ & (ring_.size() - 1)]; }

  /// The id of the slot's next call.
  std::int64_t id(std::uint32_t slot) const { return calls_[slot].next_id; }
  /// The slot's call is being sent now.
  void sending(std::uint32_t slot, std::int64_t now) { calls_[slot].sent = now; }
  /// The slot's call was sent, at least in part, so a reply may come.
  void sent(std::uint32_t slot) {
    Call& call = calls_[slot];
    call.in_flight = call.next_id;
    call.next_id += static_cast<std::int64_t>(slots_.size());
  }

  /// The slot whose call in flight has that id, if any.
  std::optional<std::uint32_t> find(std::int64_t id) const {
    if (slots_.empty() || id == kNone) return std::nullopt;
    const auto slot = static_cast<std::uint32_t>(static_cast<std::uint64_t>(id) % slots_.size());
    if (calls_[slot].in_flight != id) return std::nullopt;
    return slot;
  }
  /// The slot's call completed with that many bytes. Asks the slot for the next one.
  void done(std::uint32_t slot, std::int64_t bytes, std::int64_t now) {
    slots_[slot].done(calls_[slot].sent, now, bytes);
    calls_[slot].in_flight = kNone;
    ask(slot, now);
  }
  /// The slot's call failed. After kind peer the slot is released, because the server takes
  /// no more calls.
  void fail(std::uint32_t slot, contract::ErrorKind kind, std::int64_t now, std::string_view why = {}) {
    slots_[slot].fail(kind, now, why);
    calls_[slot].in_flight = kNone;
    if (kind == contract::ErrorKind::peer) return let_go(slot);
    ask(slot, now);
  }

  /// The connection is lost: every exchange that is in flight or queued fails with kind, and
  /// every slot is released.
  void abandon(contract::ErrorKind kind, std::int64_t now) {
    agenda_.forget(number_);
    for (std::uint32_t slot = 0; slot < calls_.size(); slot++) {
      if (!calls_[slot].busy) continue;
      slots_[slot].fail(kind, now);
      let_go(slot);
    }
    taken_ = queued_;
  }

 private:
  static constexpr std::int64_t kNone = 0;

  struct Call {
    std::int64_t in_flight = kNone;
    std::int64_t next_id = 0;
    std::int64_t sent = 0;
    bool busy = false;  // queued or in flight
  };

  void ask(std::uint32_t slot, std::int64_t now) {
    calls_[slot].busy = false;
    if (agenda_.ask(slots_[slot], now, number_, slot)) queue(slot);
  }
  void let_go(std::uint32_t slot) {
    calls_[slot].busy = false;
    agenda_.let_go();
  }

  std::uint32_t number_;
  std::span<Slot> slots_;
  Agenda& agenda_;
  std::vector<Call> calls_;

  // A ring. Its positions only grow. A slot is in it at most once.
  std::vector<std::uint32_t> ring_;
  std::uint64_t taken_ = 0;
  std::uint64_t queued_ = 0;
};

}  // namespace netdyno::baidu
