// The event loops of the asio worker, for the workers of every wire: a client's runs its
// connections and makes slots send when they are due; a server's accepts connections, and runs
// those that it or another loop accepted.
//
// Layer: asio worker, top. Threads: as kit/ends.h says.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "asio/connection.h"
#include "kit/ends.h"
#include "kit/system.h"

namespace netdyno::asio_worker {

class AsioClientLoop final : public ClientLoop {
 public:
  AsioClientLoop() : context_(kUnlocked), waker_(context_), timer_(context_) {}

  void add(int fd, std::unique_ptr<Flow> flow, bool active) override;
  void run() override;

 private:
  using ClientConnection = Connection<AsioClientLoop>;
  friend ClientConnection;

  static constexpr bool kRedials = true;
  Descriptor redial(ClientConnection& connection) { return ClientLoop::redial(connection.index); }
  void made(ClientConnection& connection) { ClientLoop::made(connection.index); }
  static std::int64_t now() { return now_ns(); }
  void moved() { arm(); }
  /// A server that breaks the wire's rules ends the trial.
  bool tolerates(const contract::Failure&) { return false; }
  void closed(ClientConnection& connection);
  void released(ClientConnection&) {}  // kept: the agenda's numbers index connections_

  void wake() override { waker_.wake(); }
  /// Arms the timer for the agenda. Call it after anything that may have changed that.
  void arm();
  void poll();
  /// Sends what is due, and then waits for the next slot.
  void due();
  /// Another thread has called end or stop.
  void woken();

  ::asio::io_context context_;
  Waker waker_;
  Timer timer_;
  std::vector<std::unique_ptr<ClientConnection>> connections_;
  std::int64_t armed_ = Agenda::kNever;  // the instant that the timer or the post is for
  bool posted_ = false;
};

/// One event loop of the asio worker's server: accepts connections, and runs those that it or another loop
/// accepted.
///
/// Threads as kit/ends.h says.
class AsioServerLoop final : public ServerLoop {
 public:
  AsioServerLoop() : context_(kUnlocked), waker_(context_), rest_(context_) {}

  void listen(int listener, std::function<void(int fd)> admit) override;
  void run() override;

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
  void made(ServerConnection&) {}
  static std::int64_t now() { return 0; }  // a server's flows record no times
  void moved() {
    if (traffic.rests.next() < armed_) [[unlikely]]
      arm();
  }
  /// Arms the timer for the flow that has rested first.
  void arm();
  /// A client that breaks the wire's rules loses only its connection.
  bool tolerates(const contract::Failure&) { return true; }
  void closed(ServerConnection&) {}
  /// Destroys it.
  void released(ServerConnection& connection) { drop(connections_, connection.index); }

  void wake() override { waker_.wake(); }
  /// Another thread has called adopt or stop.
  void woken();
  void accept(Listener& listener);
  /// An accept failed: files ran out, or the client left before it was accepted. Counts it
  /// and tries again after a pause, because trying at once could fail for ever.
  void pause(Listener& listener);

  ::asio::io_context context_;
  Waker waker_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Timer rest_;
  std::int64_t armed_ = Rests::kNever;                          // the instant that it is for
  std::vector<std::unique_ptr<ServerConnection>> connections_;  // after context_: sockets go first
};

}  // namespace netdyno::asio_worker
