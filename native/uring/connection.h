// One connection of either end: moves a flow's bytes by io_uring. At most one send and
// one receive are pending at a time.
//
// Flow::written is called when a send is submitted, because the answer's completion may
// come before the send's, and the flow must know by then what is answered. Sends are
// whole (MSG_WAITALL): either all bytes are sent, or the connection is lost. So a server
// counts a write earlier than it is done, by the duration of one send. Where the outgoing
// bytes change (an echo server sends from its read buffer), the flow receives nothing
// before the send has completed.
//
// In that case both are submitted together as linked operations: the receive begins when
// the send is done. Each exchange then costs one wait and one completion.
//
// A client's connection whose flow's fate is over has no socket until the flow has bytes
// to send again. They are submitted while the new socket still connects: the kernel holds
// them back until it is connected, as it does while there is no room.
//
// Layer: uring worker, above loop. Only its loop's thread uses it.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "kit/contract.h"
#include "kit/flow.h"
#include "kit/system.h"
#include "uring/loop.h"

namespace netdyno::uring_worker {

class Connection;

/// A loop, as its connections see it.
class LoopObserver {
 public:
  /// The connection broke: it is shut down and its flow abandoned.
  virtual void lost(Connection& connection) = 0;
  /// A lost connection has no pending operation any more: it may be destroyed.
  virtual void released(Connection& connection) = 0;
  /// A socket that is connecting in place of the connection's, which is over. Clients only.
  virtual Descriptor redial(Connection&) { return {}; }
  /// That connection is there.
  virtual void made(Connection&) {}

 protected:
  ~LoopObserver() = default;
};

class Connection final : public Owner, Pinned {
 public:
  /// role is the end that the loop drives. loop and observer outlive the connection.
  Connection(Loop& loop, LoopObserver& observer, contract::Role role, Descriptor socket,
             std::unique_ptr<Flow> flow);

  /// Begins the flow. Call this and the following only inside Ring::run.
  void begin();
  /// The slot's time, which the agenda kept, has come.
  void send(std::uint32_t slot);
  /// The flow has rested.
  void rested();
  /// Cancels pending operations, when the loop ends.
  void cancel();

  void completed(const Completion& completion) override;

  std::size_t index = 0;  // for the observer to use

 private:
  /// The pending send.
  struct Sending {
    enum class State { nothing, alone, linked };
    State state = State::nothing;
    std::span<const char> bytes;
  };
  struct Receiving {
    bool under_way = false;
    bool more_here = false;  // the socket held more than the last receive took
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
  void goes() {
    if (std::exchange(made_, true)) return;
    observer_.made(*this);
    flow_->made();
  }
  void unlinked(int result);

  void receive(std::span<char> buffer);
  void received(const Completion& completion);

  bool concluded();
  void broke(int result);
  void lose();
  void settle();
  void reopen(std::int64_t at);

  Loop& loop_;
  LoopObserver& observer_;
  contract::Role role_;
  Descriptor socket_;
  std::unique_ptr<Flow> flow_;
  File file_;
  Sending out_;
  Receiving in_;
  bool made_ = true;  // false from making the connection anew until something went by it
  bool lost_ = false;
  bool parting_ = false;  // it is over, and operations are still pending
};

}  // namespace netdyno::uring_worker
