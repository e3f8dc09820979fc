// One connection of either end, whose bytes one thread moves by calls that block.
//
// Where bytes travel one way, or one message at a time, the thread waits in the call that
// moves them. Where both ends may have more to send than the sockets hold, two threads that
// wait for each other to read would wait for ever: there a send does not wait, and the
// thread waits by poll(2) for either direction.
//
// Layer: threads worker, above sender, receiver. Only its thread uses it, but for stop and
// end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "kit/agenda.h"
#include "kit/flow.h"
#include "kit/system.h"
#include "threads/transfers.h"

namespace netdyno::threads_worker {

/// What all connections of one end of a trial have in common. Immutable; any thread.
class Manner {
 public:
  /// Throws as Settings::of and Block do.
  explicit Manner(const contract::Setup& setup);

  /// Whether bytes may have to travel both ways at once.
  bool both_ways() const { return both_ways_; }
  /// Whether a call on the socket may wait.
  bool blocks() const { return blocks_; }
  /// Whether a thread waits by poll before it receives. With a low-water mark it must: a
  /// receive that has taken a part and waits for the rest would not be woken for less than
  /// the mark.
  bool polls() const { return !blocks_ || settings_.lowat > 0; }
  bool client() const { return client_; }

  std::unique_ptr<Sender> sender() const { return make_sender(settings_, block_.get()); }
  Receiver receiver() const { return {settings_, incoming_, blocks_}; }

 private:
  Settings settings_;
  bool client_;
  bool both_ways_;
  bool blocks_;
  std::int64_t incoming_;  // bytes of a message that comes in
  std::unique_ptr<const Block> block_;
};

class Connection {
 public:
  /// manner outlives the connection. Throws Failure{setup}.
  Connection(const Manner& manner, Descriptor socket, std::unique_ptr<Flow> flow);

  /// Begins the flow and moves its bytes until agenda holds no slot, which is a client's
  /// (null at a server), the connection is lost, or stop is called. False when it was
  /// lost. Throws Failure{invalid} as the flow does.
  bool run(Agenda* agenda);
  /// Waits until the connection is lost or stop is called. False when it was lost.
  bool watch();

  /// Drops what is due after closing (Agenda::end). Any thread.
  void end(std::int64_t closing);
  /// Makes run and watch return soon, by shutting the socket down if it carries load. Any
  /// thread, as long as the connection exists.
  void stop();
  /// Makes watch return soon. Any thread.
  void release();

 private:
  enum class Step { went, blocked, lost };

  bool move(Agenda* agenda);
  std::int64_t now() const;
  Step send();
  Step receive(Waiting waiting);
  Step await(bool blocked, Agenda* agenda);
  void fire(Agenda& agenda);
  void wake();

  const Manner& manner_;
  Descriptor socket_;
  Descriptor waker_;
  std::unique_ptr<Flow> flow_;
  std::unique_ptr<Sender> sender_;
  Receiver receiver_;
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  std::atomic<bool> stopped_{false};
};

}  // namespace netdyno::threads_worker
