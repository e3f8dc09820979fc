// One event loop of the asio worker's server: accepts connections, and runs those that it
// or another loop accepted.
//
// Layer: asio worker. Threads as kit/ends.h says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "asio/connection.h"
#include "asio/loop.h"
#include "kit/descriptor.h"
#include "kit/ends.h"

namespace netdyno::asio_worker {

class AsioServerLoop final : public ServerLoop {
 public:
  AsioServerLoop() : context_(kUnlocked), waker_(context_) {}

  void listen(int listener, std::function<void(int fd)> admit) override;
  void adopt(int fd, std::unique_ptr<Flow> flow) override;
  void run() override;
  void stop() override;

 private:
  struct Listener {
    Acceptor acceptor;
    Timer pause;
    std::function<void(int fd)> admit;
  };
  using ServerConnection = Connection<AsioServerLoop>;
  friend ServerConnection;

  static constexpr bool kRedials = false;
  Descriptor redial(ServerConnection&) { return {}; }
  static std::int64_t now() { return 0; }  // a server's flows record no times
  void moved() {}
  /// A client that breaks the wire's rules loses only its connection.
  bool tolerates(const contract::Failure&) { return true; }
  void closed(ServerConnection&) {}
  /// Destroys it.
  void released(ServerConnection& connection);

  /// Another thread has called adopt or stop.
  void woken();
  void accept(Listener& listener);
  /// An accept failed: files ran out, or the client left before it was accepted. Counts it
  /// and tries again after a pause, because trying at once could fail for ever.
  void pause(Listener& listener);

  struct Newcomer {
    Descriptor socket;
    std::unique_ptr<Flow> flow;
  };

  ::asio::io_context context_;
  Waker waker_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<ServerConnection>> connections_;  // after context_: sockets go first
  std::mutex mutex_;
  std::vector<Newcomer> newcomers_;  // guarded by mutex_
  std::atomic<bool> stopped_{false};
};

}  // namespace netdyno::asio_worker
