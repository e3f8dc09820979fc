// The contract's state machine.
//
//   born ─hello→ idle ─setup/ready→ ready ─start→ running ─mark(reset)→ window ─mark, stop/result→ done ─EOF→
//   exit
//
// Layer: top of the kit, behind worker.h. Threads: the control thread owns the
// machine. One background thread at a time carries out setup and then runs the
// client. Go counterpart: internal/work/worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "kit/inbox.h"
#include "kit/worker.h"

namespace netdyno {

class Machine {
 public:
  /// Interval of progress messages in ns.
  static constexpr std::int64_t kTickNs = 200'000'000;

  Machine(const WorkerInfo& info, const std::vector<Transport*>& transports, Inbox& inbox, int out);
  ~Machine();

  /// Sends hello and handles commands. Returns the exit status once stdin ended or a
  /// fatal error was reported.
  int loop();

 private:
  enum class State { idle, preparing, ready, running, draining, done };

  void handle(Event& event);
  void command(const contract::Message& message);
  void setup(const contract::Json& body);
  void send_ready(Prepared& prepared);
  void start();
  void mark(const contract::Json& body);
  void stop();
  void finish(const Finished& finished);
  void tick();
  contract::Counts counts() const;
  contract::Result server_result() const;
  contract::Sent sent() const;
  void in_background(std::thread work);

  bool at_ready() const { return state_ != State::idle && state_ != State::preparing; }
  void send_error(const std::string& text);
  void fail(std::exception_ptr error);
  void send(const contract::Json& message);

  const WorkerInfo& info_;
  const std::vector<Transport*>& transports_;
  Inbox& inbox_;
  int out_;

  State state_ = State::idle;
  std::optional<int> status_;  // set: the conversation is over
  contract::Setup setup_;
  Prepared end_;
  std::thread background_;
  std::int64_t next_tick_ns_ = 0;
  std::int64_t drain_deadline_ns_;  // when draining is cut
};

}  // namespace netdyno
