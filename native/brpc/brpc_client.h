// A client of baidu_std on brpc::Channel: synchronous calls in bthreads, one for each
// slot, as brpc's own examples make them. A connection of the trial is a channel in a
// connection group of its own, which is one TCP connection.
//
// Layer: above brpc_content. Threads: bthreads run on brpc's pool. Several threads may
// complete calls of one shard, so its slots are used under the shard's mutex.
#pragma once

#include <brpc/channel.h>
#include <bthread/bthread.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "brpc/brpc_server.h"
#include "kit/load.h"
#include "kit/worker.h"

namespace netdyno::brpc_worker {

class BrpcClient : public Client {
 public:
  /// Connects and verifies. Throws Failure.
  BrpcClient(const contract::Setup& setup, Load& load);

  contract::Ready ready() const override;
  void run() override;
  void ended() override;
  void close() override;
  std::int64_t connections() const override { return open_.load(std::memory_order_relaxed); }

 private:
  struct Connection {
    brpc::Channel channel;
    std::atomic<bool> lost{false};
  };
  /// One slot and the bthread that drives it.
  struct Caller {
    BrpcClient& client;
    Connection& connection;
    std::mutex& shard;
    Slot& slot;
    bthread_t thread = 0;
    std::atomic<std::uint64_t> call{0};  // in flight, for close
  };
  /// The outcome of one call.
  struct Outcome {
    std::int64_t received = 0;
    int code = 0;       // brpc's error code; 0: a reply came
    std::string wrong;  // why the call failed; empty: it did not
  };

  void connect(const contract::Setup& setup);
  void verify(std::int64_t connection);
  Outcome call(Connection& connection, std::atomic<std::uint64_t>* id, bool compare) const;
  static void* drive(void* caller);
  void exchange(Caller& caller) const;
  bool until(std::int64_t due) const;
  void lose(Connection& connection);

  Load& load_;
  Content content_;
  contract::Options options_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::mutex> shards_;
  std::mutex starting_;  // callers_ grows while ended and close may look
  std::vector<std::unique_ptr<Caller>> callers_;
  std::atomic<std::int64_t> open_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace netdyno::brpc_worker
