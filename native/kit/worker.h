// How to write a worker in C++: implement Transport, and call run_worker.
//
//   class Echo : public netdyno::Transport { … };
//   int main() {
//     Echo echo;
//     netdyno::WorkerInfo info{"netdyno-worker-x", "1.0", {{"x", X_VERSION}}};
//     return netdyno::run_worker(info, {&echo});
//   }
//
// The kit speaks the contract, keeps the state, checks setup and options, lays
// out the load and encodes results. A transport only opens ends and moves bytes.
// On wires echo and stream a library of event loops need not even open ends:
// kit/ends.h does, and native/example/worker.cc is a whole one. kit/load.h says
// how to pull slots, kit/address.h reads addresses. CMakeLists.txt takes one
// netdyno_worker(…) line, and `netdyno check build/bin/netdyno-worker-x` proves
// that it conforms.
//
// Layer: top of the kit. Errors: throw contract::Failure with the kind that the
// contract gives it; any other exception is reported as kind bug.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kit/contract.h"
#include "kit/load.h"

namespace netdyno {

/// One role of one trial. Destroyed on the control thread; the destructor ends
/// its threads and returns soon.
class End {
 public:
  virtual ~End() = default;
  /// What the ready message says; options may stay empty for the effective ones.
  virtual contract::Ready ready() const = 0;
};

/// A listening end. It serves from its own threads from its construction on,
/// until it is destroyed: also after stop, while clients drain.
class Server : public End {
 public:
  /// Sums since it listens. Any thread; must not block.
  virtual contract::Counts counts() const = 0;
};

/// A connected end: every connection open, one message verified on each.
class Client : public End {
 public:
  /// Issues the load until every slot is let go or close is called. Called
  /// once, on a thread of the kit's, after Load::start. Throws Failure{peer}
  /// when no connection is left.
  virtual void run() = 0;
  /// The load has ended (Load::end): slots that wait for a far due may be let
  /// go. Control thread, while run runs.
  virtual void ended() = 0;
  /// Makes run return soon, leaving what is in flight unfinished. Control thread.
  virtual void close() = 0;
  /// Connections open now. Any thread; must not block.
  virtual std::int64_t connections() const = 0;
};

/// One named way to move data.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual contract::Transport describe() const = 0;
  /// Listens. Options are complete and in range. Called on a thread of the
  /// kit's, and so may take its time.
  virtual std::unique_ptr<Server> server(const contract::Setup& setup) = 0;
  /// Connects and verifies. As server; load outlives the client.
  virtual std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) = 0;
};

struct WorkerInfo {
  std::string name;
  std::string version;
  std::vector<contract::Library> libraries;
};

/// Speaks the contract on stdin and stdout until stdin ends and returns the
/// exit status: 0, or 1 after a fatal error. Whatever else writes to stdout
/// from then on is sent to stderr.
int run_worker(const WorkerInfo& info, const std::vector<Transport*>& transports);

/// As run_worker, on any two descriptors, which stay the caller's.
int converse(const WorkerInfo& info, const std::vector<Transport*>& transports, int in, int out);

}  // namespace netdyno
