// One event loop of the asio worker's server: accepts, and runs what was
// accepted here or elsewhere.
//
// Layer: asio worker. Threads as kit/ends.h says.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "asio/connection.h"
#include "asio/loop.h"
#include "kit/ends.h"

namespace netdyno::asio_worker {

class AsioServerLoop final : public ServerLoop {
 public:
  AsioServerLoop() : context_(1) {}

  void listen(int listener, std::function<void(int fd)> admit) override;
  void adopt(int fd, std::unique_ptr<Flow> flow) override;
  void run() override;
  void stop() override { context_.stop(); }

 private:
  struct Listener {
    Acceptor acceptor;
    Timer pause;
    std::function<void(int fd)> admit;
  };
  using Line = Connection<AsioServerLoop>;
  friend Line;

  static std::int64_t now() { return 0; }  // a server's flows take no times
  void moved() {}
  /// A client that breaks the wire's rules loses its connection.
  bool bears(const contract::Failure&) { return true; }
  void closed(Line&) {}
  /// Destroys it.
  void over(Line& line);

  void accept(Listener& listener);
  /// Out of files, or a client that left its place in the queue: counted, and
  /// tried again after a moment rather than in a spin.
  void pause(Listener& listener);

  ::asio::io_context context_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<Line>> lines_;  // after context_: sockets go first
};

}  // namespace netdyno::asio_worker
