// The slots of one loop: which wait until their next exchange is due, and how many
// still have exchanges to make.
//
// Layer: above load. Only one loop's thread uses it. Entries name a connection and a
// slot by number, so an agenda may outlive both. It allocates while slots are added
// and never afterwards.
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

  /// Later than any instant: nothing is due.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// Adds n slots. Each may wait once at a time.
  void hold(std::size_t n) {
    held_ += n;
    heap_.reserve(held_);
  }
  void let_go(std::size_t n = 1) { held_ -= n; }
  /// Slots not yet released. 0 means that the loop's load is over.
  std::size_t held() const { return held_; }
  /// Of them, those that wait for nothing but their peer.
  std::size_t in_flight() const { return held_ - heap_.size(); }

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
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  std::int64_t next_due() const { return heap_.empty() ? kNever : heap_.front().due; }

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
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    return entry;
  }

  /// Removes and releases every slot that is due after closing.
  void end(std::int64_t closing) {
    held_ -= std::erase_if(heap_, [closing](const Entry& e) { return e.due > closing; });
    std::make_heap(heap_.begin(), heap_.end(), later);
  }

  /// Removes and releases the waiting slots of a lost connection.
  void forget(std::uint32_t connection) {
    held_ -= std::erase_if(heap_, [connection](const Entry& e) { return e.connection == connection; });
    std::make_heap(heap_.begin(), heap_.end(), later);
  }

 private:
  /// What was due until then goes out at now.
  std::int64_t latest(std::int64_t now) const { return gathered_ == 0 ? now : now - now % gathered_; }
  static bool later(const Entry& a, const Entry& b) { return a.due > b.due; }

  std::vector<Entry> heap_;
  std::size_t held_ = 0;
  std::int64_t gathered_ = 0;
};

}  // namespace netdyno
