// What one loop has yet to do: slots that wait until due, and how many slots
// it still holds.
//
// Layer: above load. Belongs to one loop's thread. Entries name a connection
// and a slot by number, so an agenda outlives what it points at. Sized once:
// nothing allocates afterwards.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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

  /// Nothing is due: further away than any instant.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// Begins to hold n more slots; each may wait once at a time.
  void hold(std::size_t n) {
    held_ += n;
    heap_.reserve(held_);
  }
  void let_go(std::size_t n = 1) { held_ -= n; }
  /// Slots not yet let go; 0 means that the loop's load is over.
  std::size_t held() const { return held_; }

  /// Asks a slot for its next exchange: true when that is due at now. Else the
  /// slot waits here until it is, or is let go when it has none left.
  bool ask(Slot& slot, std::int64_t now, std::uint32_t connection, std::uint32_t number) {
    std::int64_t due = 0;
    if (!slot.next(now, due)) {
      let_go();
      return false;
    }
    if (due > now) wait({due, connection, number});
    return due <= now;
  }

  void wait(Entry entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  std::int64_t next_due() const { return heap_.empty() ? kNever : heap_.front().due; }

  /// Takes the entry that is due first; only when next_due() is not kNever.
  Entry take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    return entry;
  }

  /// Forgets, and lets go, every slot that is due after closing.
  void end(std::int64_t closing) {
    held_ -= std::erase_if(heap_, [closing](const Entry& e) { return e.due > closing; });
    std::make_heap(heap_.begin(), heap_.end(), later);
  }

  /// Forgets, and lets go, the slots of a connection that was lost.
  void forget(std::uint32_t connection) {
    held_ -= std::erase_if(heap_, [connection](const Entry& e) { return e.connection == connection; });
    std::make_heap(heap_.begin(), heap_.end(), later);
  }

 private:
  static bool later(const Entry& a, const Entry& b) { return a.due > b.due; }

  std::vector<Entry> heap_;
  std::size_t held_ = 0;
};

}  // namespace netdyno
