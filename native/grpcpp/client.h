// The client of transport grpcpp: connections spread over loops, each with a thread and a
// completion queue. A connection of the trial is one channel with its own TCP connection.
// Exchanges in flight on it are concurrent RPCs.
//
// Layer: above call, options. The kit's threads use GrpcClient (worker.h). Only the loop's
// thread uses a ClientLoop and its Connections while it opens or runs.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/support/channel_arguments.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "grpcpp/call.h"
#include "grpcpp/contents.h"
#include "kit/address.h"
#include "kit/agenda.h"
#include "kit/loops.h"
#include "kit/system.h"
#include "kit/worker.h"

namespace netdyno::grpc_worker {

/// What all connections of a client share.
struct Trial {
  const Plan& plan;
  const std::vector<Route>& routes;
  const grpc::ChannelArguments& arguments;
  bool compare;  // whether the verified exchange compares content, or only its size
  std::int64_t connections;
  double max_errors;
};

class ClientLoop;

/// One channel. It never moves, because events hold its address.
class Connection : Pinned {
 public:
  Connection(ClientLoop& loop, std::uint32_t number, std::int64_t trial_index, std::span<Slot> slots);

  /// Connects by its first exchange, the verified one.
  void verify();
  /// Whether that went out: the channel had a connection.
  bool asked() const { return asked_ || state() == GRPC_CHANNEL_READY; }
  /// The load begins: asks the slots for exchanges.
  void begin();
  /// The slot's next exchange is due, as the agenda says.
  void send(std::uint32_t slot) { slot_calls_[slot]->send(); }
  /// Cancels what is in flight, waits for its events, and releases the channel.
  void release();

 private:
  /// A slot and its call.
  class SlotCall final : public Waiter {
   public:
    SlotCall(Connection& connection, std::uint32_t number, Slot* slot);
    void ask(std::int64_t now);
    void send();
    void completed(const Outcome& outcome) override;
    Call& call() { return *call_; }

   private:
    Connection& connection_;
    std::uint32_t number_;
    Slot* slot_;  // null: the connection carries no load
    std::unique_ptr<Call> call_;
    std::int64_t sent_ = 0;
  };
  /// Waits for the verified exchange.
  class Verifier final : public Waiter {
   public:
    explicit Verifier(Connection& connection) : connection_(connection) {}
    void completed(const Outcome& outcome) override { connection_.verified(outcome); }

   private:
    Connection& connection_;
  };

  void verified(const Outcome& outcome);
  bool may_repeat(contract::ErrorKind failed) const;
  /// The channel's. GRPC_CHANNEL_SHUTDOWN where there is none.
  grpc_connectivity_state state() const;
  void again(bool);
  void left_ready(bool);
  void stayed_ready(bool);
  void hold(std::uint32_t slot);
  /// A slot was released because the peer failed.
  void slot_lost();
  void lose();

  ClientLoop& loop_;
  std::uint32_t number_;      // in the loop
  std::int64_t trial_index_;  // in the trial
  bool active_;
  bool lost_ = false;
  std::size_t slots_lost_ = 0;
  Target target_;
  std::vector<std::unique_ptr<SlotCall>> slot_calls_;
  Verifier verifier_;
  std::size_t repeats_ = 0;  // of the verified exchange
  bool asked_ = false;       // that went out and has ended
  grpc::Alarm alarm_;
  On<Connection, &Connection::again> again_;
  On<Connection, &Connection::left_ready> watch_;
  // Slots whose exchange failed as by a loss of the connection, of which the channel does not know yet.
  std::vector<std::uint32_t> held_;
  grpc::Alarm doubt_alarm_;
  On<Connection, &Connection::stayed_ready> doubt_;
  bool doubted_ = false;  // the alarm is set
  bool watching_ = false;
};

class ClientLoop : Pinned {
 public:
  ClientLoop(const Trial& trial, Load& load, int shard);
  ~ClientLoop();

  /// Connects and verifies its connections. Throws Failure.
  void open();
  /// Runs the load until every slot is released or stop is called.
  void run();
  /// Drops what is due after closing. Only the first call has an effect. Control thread.
  void end(std::int64_t closing);
  /// Makes open and run return soon. Any thread.
  void stop();

  /// Connections open now. Any thread.
  std::int64_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  /// Of them, those that carry load. Only while the loop does not run.
  std::int64_t active_connections() const { return active_; }
  /// First exchanges that were made again: nothing was sent before. Only while the loop does
  /// not run.
  std::int64_t repeated() const { return repeated_; }
  /// Connections whose first exchange was sent. Only while the loop does not run.
  std::int64_t asked() const;

 private:
  friend class Connection;

  void ended(bool);
  void woken(bool) {}

  const Trial& trial_;
  Load& load_;
  int shard_;
  grpc::CompletionQueue queue_;
  Agenda agenda_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::size_t verified_ = 0;
  std::atomic<std::int64_t> open_{0};
  std::int64_t active_ = 0;
  std::int64_t repeated_ = 0;
  bool discarding_ = false;  // the loop ends: completions are not counted

  std::atomic<bool> stopped_{false};
  std::atomic<bool> ending_{false};
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  On<ClientLoop, &ClientLoop::ended> end_event_;
  On<ClientLoop, &ClientLoop::woken> stop_event_;
  grpc::Alarm end_alarm_;
  grpc::Alarm stop_alarm_;
};

class GrpcClient : public Client {
 public:
  /// Connects and verifies every connection.
  GrpcClient(const contract::Setup& setup, Load& load);
  ~GrpcClient() override;

  contract::Ready ready() const override;
  void run() override { loops_.run(); }
  void ended() override { loops_.end(); }
  void close() override { loops_.close(); }
  std::int64_t connections() const override { return loops_.open_connections(); }
  contract::Sent opened() const override;

 private:
  Contents contents_;
  contract::Options options_;
  Plan plan_;
  std::vector<Route> routes_;
  grpc::ChannelArguments arguments_;
  Trial trial_;
  Loops<ClientLoop> loops_;
};

}  // namespace netdyno::grpc_worker
