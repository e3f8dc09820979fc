// One connection's exchanges on a wire that answers in order: which slot each
// belongs to, and when it was sent.
//
// Layer: above load, agenda. Only one loop's thread uses it, as it does the slots. It
// allocates once, in begin.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kit/agenda.h"
#include "kit/load.h"

namespace netdyno {

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
