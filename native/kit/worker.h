// How to write a worker in C++: implement Transport, and call run_worker.
//
//   class Echo : public netdyno::Transport { … };
//   int main() {
//     Echo echo;
//     netdyno::WorkerInfo info{"netdyno-worker-x", "1.0", {{"x", X_VERSION}}};
//     return netdyno::run_worker(info, {&echo});
//   }
//
// The kit speaks the contract, keeps the state, checks setup and options, plans the
// load and encodes results. A transport only connects, listens and moves bytes. On
// wires echo and stream, a library with event loops need not even connect or listen:
// kit/ends.h does that, and native/example/worker.cc is a complete example.
// kit/load.h explains slots, and kit/address.h reads addresses. Add one
// netdyno_worker(…) line to CMakeLists.txt; then `netdyno check
// build/native/bin/netdyno-worker-x` tests that the worker follows the contract.
//
// Layer: top of the kit. Errors: throw contract::Failure with the kind that the
// contract defines. Any other exception is reported as kind bug.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kit/contract.h"
#include "kit/load.h"

namespace netdyno {

/// One role of one trial. The control thread destroys it. The destructor ends its
/// threads and returns soon.
class End {
 public:
  virtual ~End() = default;
  /// What the ready message says. options may stay empty if they are the setup's.
  virtual contract::Ready ready() const = 0;
};

/// A listening end. It serves on its own threads from construction to destruction,
/// also after stop, while clients drain.
class Server : public End {
 public:
  /// Sums since it began to listen. Any thread; must not block.
  virtual contract::Counts counts() const = 0;
};

/// A connected end. Every connection is open, and one message was verified on each.
class Client : public End {
 public:
  /// Runs the load until every slot is released or close is called. The kit calls it
  /// once, on a thread of its own, after Load::start. Throws Failure{peer} when no
  /// connection is left.
  virtual void run() = 0;
  /// The load has ended (Load::end): slots whose next exchange is due later may be
  /// released. Control thread, while run runs.
  virtual void ended() = 0;
  /// Makes run return soon; exchanges in flight stay unfinished. Control thread.
  virtual void close() = 0;
  /// Connections open now. Any thread; must not block.
  virtual std::int64_t connections() const = 0;
  /// Connections that were made again after one ended between exchanges. Any thread;
  /// must not block.
  virtual std::int64_t redialled() const { return 0; }
  /// Its requests before it was ready, in verify and again.
  virtual contract::Sent opened() const { return {.verify = ready().verified}; }
};

/// One named implementation of a wire.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual contract::Transport describe() const = 0;
  /// Listens. Options are complete and in range. The kit calls it on a thread of its
  /// own, so it may take time.
  virtual std::unique_ptr<Server> server(const contract::Setup& setup) = 0;
  /// Over how many shards a client's load is spread: as many as it has threads that count.
  /// Called before client, which may refuse the setup.
  virtual std::int64_t shards(const contract::Setup& setup) const;
  /// Connects and verifies. Called as server is. load outlives the client.
  virtual std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) = 0;
};

struct WorkerInfo {
  std::string name;
  std::string version;
  std::vector<contract::Library> libraries;
};

/// Speaks the contract on stdin and stdout until stdin ends, and returns the exit
/// status: 0, or 1 after a fatal error. From then on, anything else that this process
/// writes to stdout goes to stderr.
int run_worker(const WorkerInfo& info, const std::vector<Transport*>& transports);

/// The same on any two descriptors, which the caller keeps owning.
int converse(const WorkerInfo& info, const std::vector<Transport*>& transports, int in, int out);

}  // namespace netdyno
