// Accepts a server's connections itself and hands them to the library, which
// can neither refuse a client by its address nor tell how many are open.
//
// Layer: above kit/sockets. Threads: one of its own accepts; open may be called
// by any.
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

/// Connections by their descriptors, which belong to the library: it shuts each
/// down before it closes it.
class OpenConnections {
 public:
  /// Before the library has fd: a number that comes again is the same entry.
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
  /// Hands over an accepted descriptor, with that of its listener.
  using Admit = std::function<void(int listener, int fd)>;

  /// Listens. Throws Failure{setup} when it cannot.
  explicit Acceptor(const contract::Setup& setup);
  ~Acceptor() { stop(); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Begins to accept. Strangers are closed at once.
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
