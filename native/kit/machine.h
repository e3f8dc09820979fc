// The contract's state machine, and its one queue of events: lines from the bench, and the
// results of the worker's own background threads.
//
//   born ─hello→ idle ─setup/ready→ ready ─start→ running ─mark(reset)→ window ─mark, stop/result→ done ─EOF→
//   exit
//
// Layer: top of the kit, behind worker.h. Threads: the control thread owns the
// machine. One background thread at a time carries out setup and then runs the
// client. Go counterpart: internal/work/worker.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "kit/contract.h"
#include "kit/line.h"
#include "kit/worker.h"

namespace netdyno {

/// A line that was no message. text is the error to send back.
struct BadLine {
  std::string text;
};
/// stdin ended.
struct EndOfInput {};
/// Setup is done: the server or the client, or the error.
struct Prepared {
  std::unique_ptr<Load> load;
  std::unique_ptr<Server> server;
  std::unique_ptr<Client> client;
  std::exception_ptr error;
};
/// The client's run returned.
struct Finished {
  std::int64_t at_ns;
  std::exception_ptr error;
};

using Event = std::variant<contract::Message, BadLine, EndOfInput, Prepared, Finished>;

/// put: any thread. take: the control thread.
class Inbox {
 public:
  /// At most this many lines wait here. A bench that sends more has to wait.
  static constexpr std::size_t kMaxWaiting = 64;

  void put(Event event);
  /// The next event, or nothing once now_ns reaches until_ns.
  std::optional<Event> take(std::int64_t until_ns);
  /// Reads lines from in until the stream ends. Each line becomes an event.
  void read_lines(int in);
  /// From now on read_lines drops what it reads instead of waiting for take.
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  bool closed_ = false;
};

/// The contract's state machine.
///
/// born ─hello→ idle ─setup/ready→ ready ─start→ running ─mark(reset)→ window ─mark, stop/result→ done ─EOF→
/// exit
///
/// Layer: top of the kit, behind worker.h. Threads: the control thread owns the machine. One background
/// thread at a time carries out setup and then runs the client. Go counterpart: internal/work/worker.
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
  void tell_parts(std::int64_t now);
  void tell_all_parts();
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
  struct Part {
    std::int64_t id;  // of the mark that closed it
    std::int64_t due_ns;
  };
  std::deque<Part> parts_;  // to be told
};

}  // namespace netdyno
