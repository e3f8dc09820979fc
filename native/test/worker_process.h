// A worker as the bench sees it: a child process with two pipes. Layer: test.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace netdyno::test {

using Json = nlohmann::json;

/// How long anything may take in a worker that sanitizers slow down, beside other busy
/// processes. netdyno check holds the workers that are shipped to the contract's seconds.
inline constexpr int kTimeoutMs = 60'000;

class WorkerProcess {
 public:
  explicit WorkerProcess(const std::string& executable);
  ~WorkerProcess();  // kills it if it still runs
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void send_line(const std::string& line);
  void send(const Json& message) { send_line(message.dump()); }
  /// The next message, or nothing when the worker's stream ended or no message came within
  /// timeout_ms.
  std::optional<Json> next(int timeout_ms = kTimeoutMs);
  /// The body of the next message, without ticks. Throws std::runtime_error that quotes the
  /// message if it has another name.
  Json expect(const std::string& name, int timeout_ms = kTimeoutMs);
  /// The error message that must come next. Throws as expect does.
  Json expect_error(const std::string& kind, bool fatal, int timeout_ms = kTimeoutMs);
  void close_stdin();
  /// The exit status, or nothing when the worker has not ended within kTimeoutMs.
  std::optional<int> wait();
  void kill();
  int ticks() const { return ticks_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int ticks_ = 0;
  std::string buffer_;
};

/// A server of the worker's first transport, ready; address() is where.
class EchoServer {
 public:
  explicit EchoServer(const std::string& executable, const Json& change = Json::object());
  std::string address(std::size_t i = 0) const { return ready_.at("addresses").at(i); }
  const Json& ready() const { return ready_; }
  WorkerProcess& worker() { return worker_; }
  /// Its counts once they hold that many exchanges, or after kTimeoutMs as they are. A client can
  /// have an answer before its server has counted it.
  Json counts(std::int64_t exchanges);

 private:
  WorkerProcess worker_;
  Json ready_;
};

/// A client of the executable's first transport, after a setup with the given changes. worker
/// has the answer.
class ToldClient {
 public:
  ToldClient(const std::string& executable, const std::string& peer, const Json& change);
  WorkerProcess worker;
};

/// Has a client make load.amount exchanges on each connection, expects the counts of both ends to
/// be what that makes, and that none failed. server and client are changes of their setups, of
/// which the client's has exchange and load.
void expect_all_exchanged(const std::string& executable, const Json& server, const Json& client);

/// A name of a test for its combination of options: what of the JSON is a letter or a digit.
std::string name_of(const Json& options);

/// Tells whether the executable's first transport has an option.
bool offers(const std::string& executable, const std::string& option);

/// The setup that vectors/README.md describes, for a transport and role.
Json setup_message(const Json& transport, const std::string& role, const std::string& peer);

}  // namespace netdyno::test
