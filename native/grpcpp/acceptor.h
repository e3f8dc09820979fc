// Accepts a server's connections and passes them to the library, which can neither refuse
// a client by its address nor report how many connections are open.
//
// Layer: above kit/sockets. Threads: it accepts on a thread of its own. Any thread may call
// open.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kit/contract.h"
#include "kit/descriptor.h"
#include "kit/sockets.h"

namespace netdyno::grpc_worker {

/// Connections by their descriptors. The library owns these, and shuts each down before it
/// closes it.
class OpenConnections {
 public:
  /// Call it before the library gets fd. A descriptor number that is used again is the same
  /// entry.
  void add(int fd);
  /// How many are open: one system call, about 70 ns for each.
  std::int64_t count();

 private:
  std::mutex mutex_;
  std::vector<pollfd> polled_;
  std::vector<bool> known_;  // by descriptor: whether it is polled
};

class Acceptor {
 public:
  /// Takes over an accepted descriptor, with that of its listener.
  using Admit = std::function<void(int listener, int fd)>;

  /// Listens. Throws Failure{setup} when it cannot.
  explicit Acceptor(const contract::Setup& setup);
  ~Acceptor() { stop(); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Begins to accept. Closes connections that setup.allow does not list.
  void start(Admit admit);
  /// Accepts no more.
  void stop();

  const std::vector<std::string>& addresses() const { return addresses_; }
  /// Connections open now. Any thread.
  std::int64_t open() { return connections_.count(); }
  /// Accepts that failed. Any thread.
  std::int64_t refused() const { return refused_; }

 private:
  void loop();
  void accept(int listener);

  Allowed allowed_;
  std::vector<Descriptor> listeners_;
  std::vector<std::string> addresses_;
  Descriptor wake_;
  Admit admit_;
  OpenConnections connections_;
  std::atomic<std::int64_t> refused_{0};
  std::thread thread_;
};

}  // namespace netdyno::grpc_worker
