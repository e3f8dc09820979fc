// The client of transport grpcpp: connections spread over loops, a thread and a
// completion queue each. A connection of the trial is one channel with its own
// TCP connection; exchanges in flight on it are concurrent RPCs.
//
// Layer: above call, options. GrpcClient belongs to the kit's threads
// (worker.h); a ClientLoop and its Connections to the loop's thread while it
// opens or runs.
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
#include "kit/worker.h"

namespace netdyno::grpc_worker {

/// What all connections of a client have in common.
struct Trial {
  const Plan& plan;
  const std::vector<Route>& routes;
  const grpc::ChannelArguments& arguments;
  bool compare;  // the content of the verified exchange, else only its size
  std::int64_t connections;
};

class ClientLoop;

/// One channel. Never moves: events hold its address.
class Connection {
 public:
  Connection(ClientLoop& loop, std::uint32_t number, std::int64_t of_trial, std::span<Slot> slots);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Connects with its first exchange, which is the verified one.
  void verify();
  /// The load begins: asks its slots.
  void begin();
  /// A slot's time, kept by the agenda, has come.
  void send(std::uint32_t slot) { places_[slot]->send(); }
  /// Cuts what is in flight, lets it happen, and gives the channel back.
  void release();

 private:
  /// A slot with its way of making exchanges.
  class Place final : public Awaiting {
   public:
    Place(Connection& connection, std::uint32_t number, Slot* slot);
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
  /// Hears of the verified exchange.
  class Verdict final : public Awaiting {
   public:
    explicit Verdict(Connection& connection) : connection_(connection) {}
    void completed(const Outcome& outcome) override { connection_.verified(outcome); }

   private:
    Connection& connection_;
  };

  void verified(const Outcome& outcome);
  void left_ready(bool);
  /// A slot was let go because of the peer.
  void slot_lost();
  void lose();

  ClientLoop& loop_;
  std::uint32_t number_;   // in the loop
  std::int64_t of_trial_;  // in the trial
  bool active_;
  bool lost_ = false;
  std::size_t slots_lost_ = 0;
  Target target_;
  std::vector<std::unique_ptr<Place>> places_;
  Verdict verdict_;
  On<Connection, &Connection::left_ready> watch_;
  bool watching_ = false;
};

class ClientLoop {
 public:
  ClientLoop(const Trial& trial, Load& load, int lane);
  ~ClientLoop();
  ClientLoop(const ClientLoop&) = delete;
  ClientLoop& operator=(const ClientLoop&) = delete;

  /// Connects and verifies its connections. Throws Failure.
  void open();
  /// Runs the load until every slot is let go or stop is called.
  void run();
  /// Forgets what is due after closing; only the first call counts. Control thread.
  void end(std::int64_t closing);
  /// Makes open and run return soon. Any thread.
  void stop();

  /// Connections open now. Any thread.
  std::int64_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  /// Of them, those that carry load; while it does not run.
  std::int64_t active_connections() const { return active_; }

 private:
  friend class Connection;

  void ended(bool);
  void woken(bool) {}

  const Trial& trial_;
  Load& load_;
  int lane_;
  grpc::CompletionQueue queue_;
  Agenda agenda_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::size_t verified_ = 0;
  std::atomic<std::int64_t> open_{0};
  std::int64_t active_ = 0;
  bool muted_ = false;  // the loop ends: completions count for nothing

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

 private:
  Contents contents_;
  contract::Json options_;
  Plan plan_;
  std::vector<Route> routes_;
  grpc::ChannelArguments arguments_;
  Trial trial_;
  Loops<ClientLoop> loops_;
};

}  // namespace netdyno::grpc_worker
