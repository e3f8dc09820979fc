// Recorded traffic as a load sends it: its requests in the order in which they are due, each to the
// slot that asks next. At the end it begins again.
//
// A thread reads ahead of the slots, so that none of them waits for the file.
//
// Layer: above draw. Any thread may call take; the control thread the rest. Go counterpart:
// internal/work/load/replay.go.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kit/contract.h"
#include "kit/counters.h"
#include "kit/draw.h"
#include "kit/system.h"
#include "kit/traffic.h"

namespace netdyno {

/// A request, and when it is due in ns after the load's start. Of recorded times draw says nothing.
struct Due {
  std::int64_t at_ns = 0;
  Draw draw;
  std::uint64_t number = 0;  // over all parts
};

class Replay : Pinned {
 public:
  /// draws have recorded traffic and outlive this.
  Replay(const contract::Trace& trace, const Draws& draws) : trace_(trace), draws_(draws) {}
  ~Replay() { end(); }

  /// Begins to read ahead. Once.
  void begin();
  /// The next request of this client's part. One that is never due (kNeverDue) where the file
  /// cannot be read on, and before begin.
  Due take();
  /// Ends the reading. Throws Failure{invalid} where the file could not be read on.
  void finish();
  /// How many requests are due in a stretch of time, in ns after the load's start, with a gap
  /// that spans an edge counted by its share.
  double due_in(Span window) const;

 private:
  /// This client's part from its first request on.
  class Walk {
   public:
    explicit Walk(const Replay& of);
    Due next();

   private:
    const Replay& of_;
    RecordingReader reader_;
    std::int64_t number_ = 0;  // of the next request over all parts
    std::int64_t offset_;      // ns of the recording, of the round under way
  };

  void read();
  void end();

  const contract::Trace trace_;
  const Draws& draws_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<Due>> ahead_;
  bool over_ = true;  // no block follows
  bool stopped_ = false;
  std::exception_ptr failure_;
  std::vector<Due> block_;  // that is given out
  std::size_t next_ = 0;
  std::thread thread_;
};

}  // namespace netdyno
