// All events of a worker in one queue: lines from the bench, and the results of the
// worker's own background threads.
//
// Layer: below machine. put: any thread. take: the control thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

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

}  // namespace netdyno
