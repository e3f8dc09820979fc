// When the exchanges of one connection have failed for lack of a reply, where classes say so.
//
// An exchange's alarm is an entry of the agenda, so that a loop wakes for it as for a due exchange
// and calls Flow::send with it. Alarms of exchanges that ended in time stay there until they go
// off, fewer of them for each slot than there are classes.
//
// Layer: above agenda. Only its loop's thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kit/agenda.h"

namespace netdyno {

class Deadlines {
 public:
  /// number is the connection's in the loop's numbering; agenda outlives this.
  Deadlines(std::uint32_t number, std::size_t slots, Agenda& agenda)
      : number_(number), agenda_(agenda), slots_(slots) {}

  /// The slot's exchange has failed unless it ends before an instant.
  void begin(std::uint32_t slot, std::int64_t at) {
    Of& of = slots_[slot];
    of.at = at;
    arm(slot, of);
  }
  void end(std::uint32_t slot) { slots_[slot].at = Agenda::kNever; }

  /// An alarm of the slot went off. Whether its exchange has failed by that.
  bool expired(std::uint32_t slot, std::int64_t now) {
    Of& of = slots_[slot];
    of.alarms.pop_back();
    if (of.at == Agenda::kNever) return false;
    if (of.at > now) {
      arm(slot, of);
      return false;
    }
    of.at = Agenda::kNever;
    return true;
  }

 private:
  struct Of {
    std::int64_t at = Agenda::kNever;
    std::vector<std::int64_t> alarms;  // in the agenda, the earliest last
  };

  void arm(std::uint32_t slot, Of& of) {
    if (!of.alarms.empty() && of.alarms.back() <= of.at) return;
    of.alarms.push_back(of.at);
    agenda_.alarm({of.at, number_, slot});
  }

  std::uint32_t number_;
  Agenda& agenda_;
  std::vector<Of> slots_;
};

/// Why an exchange failed whose deadline was so many ns after its send.
std::string late_text(std::int64_t deadline_ns);

}  // namespace netdyno
