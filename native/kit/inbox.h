// Everything that can happen to a worker, in one queue: lines from the bench,
// and what its own background threads have finished.
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

/// A line that was no message; text teaches.
struct BadLine {
  std::string text;
};
/// stdin has ended.
struct EndOfInput {};
/// Setup is carried out: one of both ends, or the error.
struct Prepared {
  std::unique_ptr<Load> load;
  std::unique_ptr<Server> server;
  std::unique_ptr<Client> client;
  std::exception_ptr error;
};
/// The client's run has returned.
struct Finished {
  std::int64_t at_ns;
  std::exception_ptr error;
};

using Event = std::variant<contract::Message, BadLine, EndOfInput, Prepared, Finished>;

class Inbox {
 public:
  /// Lines that wait are bounded: a bench that floods is made to wait.
  static constexpr std::size_t kMaxWaiting = 64;

  void put(Event event);
  /// The next event, or nothing when until_ns (of now_ns) has come.
  std::optional<Event> take(std::int64_t until_ns);
  /// Reads lines from in until it ends; each becomes an event.
  void read_lines(int in);
  /// Makes read_lines drop what it reads instead of waiting for take.
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> events_;
  bool closed_ = false;
};

}  // namespace netdyno
