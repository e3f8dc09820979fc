// A server that misbehaves as a test tells it to. Layer: test.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace netdyno::test {

/// A server of a test's own: one thread per connection runs serve(socket).
class OddServer {
 public:
  explicit OddServer(std::function<void(int)> serve) : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 64) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("listen on 127.0.0.1");
    }
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this, serve = std::move(serve)] {
      for (int fd; (fd = accept(listener_, nullptr, nullptr)) >= 0;) {
        serving_.emplace_back([fd, serve] {
          serve(fd);
          close(fd);
        });
      }
    });
  }
  ~OddServer() {
    shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    for (std::thread& thread : serving_) thread.join();
    close(listener_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_;
  int port_ = 0;
  std::thread accepting_;
  std::vector<std::thread> serving_;
};

/// Reads until the peer closes.
inline void swallow(int fd) {
  char bytes[4096];
  while (recv(fd, bytes, sizeof bytes, 0) > 0) continue;
}

}  // namespace netdyno::test
