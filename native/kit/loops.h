// The event loops of a client, each on a thread of its own, independent of how they
// connect. kit/ends.h has the loops over plain sockets.
//
// Layer: above load, threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "kit/load.h"
#include "kit/numa.h"
#include "kit/system.h"

namespace netdyno {

/// What a client does with all its loops. Declare it as the client's last member,
/// because loops use the other members. A Loop has at least
///   void run();                         until every slot is released or stop is called
///   void end(std::int64_t closing);     drops what is due after closing; any thread
///   void stop();                        makes run return soon; any thread
///   std::int64_t open_connections();    any thread
///   std::int64_t active_connections();  of them, those that carry load; when it does not run
template <class Loop>
class Loops {
 public:
  /// load outlives the loops.
  explicit Loops(Load& load) : load_(load) {}

  void add(std::unique_ptr<Loop> loop) { loops_.push_back(std::move(loop)); }
  std::size_t size() const { return loops_.size(); }
  Loop& operator[](std::size_t i) { return *loops_[i]; }
  const Loop& operator[](std::size_t i) const { return *loops_[i]; }
  /// Destroys loop i. Several threads may each destroy another loop at the same time.
  void destroy(std::size_t i) { loops_[i].reset(); }

  /// Client::run.
  void run() {
    const auto body = [this, nodes = Nodes::here()](std::size_t i) {
      nodes.keep(i, size());
      if (!closed_) loops_[i]->run();
    };
    run_all(size(), body, [this] { stop(); });
    if (sum(&Loop::active_connections) == 0 && !load_.ended()) {
      throw contract::Failure(contract::ErrorKind::peer,
                              "run load: the peer closed every connection that carried it");
    }
  }
  /// Client::ended.
  void end() {
    for (const auto& loop : loops_) loop->end(load_.closing());
  }
  /// Client::close.
  void close() {
    closed_ = true;
    stop();
  }
  /// Makes every loop return soon. Any thread.
  void stop() {
    for (const auto& loop : loops_) loop->stop();
  }
  /// Client::connections.
  std::int64_t open_connections() const { return sum(&Loop::open_connections); }

 private:
  std::int64_t sum(std::int64_t (Loop::*of)() const) const {
    return std::accumulate(loops_.begin(), loops_.end(), std::int64_t{0},
                           [of](std::int64_t before, const auto& loop) { return before + ((*loop).*of)(); });
  }

  Load& load_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::atomic<bool> closed_{false};
};

}  // namespace netdyno
