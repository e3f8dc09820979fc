// One connection of either end: moves a flow's bytes by io_uring. At most one
// send and one receive are under way at a time.
//
// A flow hears of a write when it is submitted: the answer's completion may come
// before the send's, and the flow must know by then what is answered. Sends are
// whole (MSG_WAITALL), so what was told comes true or the connection is lost; a
// server counts a write early by what one send takes. Where the bytes do not last
// (an echo's lie in the buffer that the next go into), the flow receives nothing
// before the send has completed.
//
// In that case both are submitted at once, linked: the receive begins when the
// send is over. That makes one wait and one completion of each exchange.
//
// Layer: uring worker, above loop. Belongs to its loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kit/descriptor.h"
#include "kit/flow.h"
#include "uring/loop.h"

namespace netdyno::uring_worker {

/// The loop that keeps connections.
class Keeper {
 public:
  /// The connection broke: it is shut down and its flow abandoned.
  virtual void lost(Connection& connection) = 0;
  /// A lost connection has nothing under way any more: it may be destroyed.
  virtual void over(Connection& connection) = 0;

 protected:
  ~Keeper() = default;
};

/// Which end of connections a loop drives.
enum class End { client, server };

class Connection final : public Owner {
 public:
  /// loop and keeper outlive the connection.
  Connection(Loop& loop, Keeper& keeper, End end, Descriptor socket, std::unique_ptr<Flow> flow);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Begins the flow. Inside Ring::run, as all that follows.
  void begin();
  /// The slot's time, which the agenda kept, has come.
  void send(std::uint32_t slot);
  /// A buffer can be had again, which this connection went without.
  void feed();
  /// Takes back what is under way, when the loop ends.
  void cancel();

  void completed(const Completion& completion) override;

  std::size_t place = 0;  // the keeper's

 private:
  /// The send that is under way.
  struct Sending {
    enum class State { nothing, alone, linked };
    State state = State::nothing;
    std::span<const char> bytes;
    int notifications = 0;  // of zero-copy sends, still to come
  };
  struct Receiving {
    bool under_way = false;
    bool more_here = false;         // more had come than the last receive took
    std::vector<Portion> portions;  // that the flow has not taken yet
  };
  using State = Sending::State;

  template <class Step>
  void guard(Step step);
  std::int64_t now() const;
  void move(std::int64_t at);
  bool may_receive() const { return out_.state == State::nothing || flow_->lasting(); }

  void start_send(std::int64_t at);
  void send_alone();
  void send_linked();
  void sent(const Completion& completion);
  void unlinked(int result);

  void receive(std::span<char> room);
  void receive_many();
  void received(const Completion& completion);
  void drain(std::int64_t at);

  void lose();
  void settle();

  Loop& loop_;
  Keeper& keeper_;
  End end_;
  Descriptor socket_;
  std::unique_ptr<Flow> flow_;
  File file_;
  Sending out_;
  Receiving in_;
  bool lost_ = false;
};

}  // namespace netdyno::uring_worker
