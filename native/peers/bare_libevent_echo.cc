// Plain libevent echo on one event_base, persistent read events and
// direct reads and writes: bufferevents would copy each message twice.
#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <vector>

#include "peers/bare.h"

namespace {

[[noreturn]] void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void prepare(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  evutil_make_socket_nonblocking(fd);
}

/// One end of a connection. A server echoes bytes; a client sends again after each whole
/// message.
class Connection {
 public:
  Connection(event_base* base, int fd, std::vector<char> buffer, const std::vector<char>* message)
      : fd_(fd), buffer_(std::move(buffer)), message_(message) {
    prepare(fd);
    reading_ = event_new(
        base, fd, EV_READ | EV_PERSIST, [](int, short, void* self) { as(self).readable(); }, this);
    writing_ = event_new(
        base, fd, EV_WRITE, [](int, short, void* self) { as(self).write(); }, this);
    event_add(reading_, nullptr);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    event_free(reading_);
    event_free(writing_);
    close(fd_);
  }

  void send() {
    from_ = message_->data();
    left_ = message_->size();
    write();
  }
  std::int64_t exchanges = 0;

 private:
  static Connection& as(void* self) { return *static_cast<Connection*>(self); }

  void readable() {
    if (message_ == nullptr && left_ > 0) return event_del(reading_), void();  // until the echo is written
    const ssize_t n = ::read(fd_, buffer_.data() + have_, buffer_.size() - have_);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return end();
    if (message_ == nullptr) {
      from_ = buffer_.data();
      left_ = static_cast<std::size_t>(n);
      return write();
    }
    have_ += static_cast<std::size_t>(n);
    if (have_ < message_->size()) return;
    have_ = 0;
    exchanges++;
    send();
  }

  void write() {
    const bool waited = message_ == nullptr && !event_pending(reading_, EV_READ, nullptr);
    while (left_ > 0) {
      const ssize_t n = ::write(fd_, from_, left_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return event_add(writing_, nullptr), void();
      if (n < 0) return end();
      from_ += n;
      left_ -= static_cast<std::size_t>(n);
    }
    if (waited) event_add(reading_, nullptr);
  }

  void end() {
    if (message_ != nullptr) die("connection");
    delete this;
  }

  int fd_;
  std::vector<char> buffer_;
  const std::vector<char>* message_;  // a client's; null at the server
  event* reading_;
  event* writing_;
  const char* from_ = nullptr;
  std::size_t left_ = 0;
  std::size_t have_ = 0;
};

void run_server(event_base* base, std::uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("bind");
  if (listen(listener, 4096) != 0) die("listen");
  event* accepting = event_new(
      base, listener, EV_READ | EV_PERSIST,
      [](int fd, short, void* loop) {
        const int accepted = accept(fd, nullptr, nullptr);
        // It deletes itself when its connection ends.
        if (accepted >= 0)
          new Connection(static_cast<event_base*>(loop), accepted, std::vector<char>(64 << 10), nullptr);
      },
      base);
  event_add(accepting, nullptr);
  event_base_dispatch(base);
}

void run_client(event_base* base, const bare::Arguments& arguments) {
  const std::vector<char> message = bare::payload(arguments.size);
  const sockaddr_in address = loopback(arguments.port);
  std::vector<std::unique_ptr<Connection>> connections;
  for (std::size_t i = 0; i < arguments.connections; i++) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("connect");
    connections.push_back(
        std::make_unique<Connection>(base, fd, std::vector<char>(message.size()), &message));
  }
  timeval end{};
  end.tv_sec = static_cast<time_t>(arguments.seconds);
  end.tv_usec = static_cast<suseconds_t>((arguments.seconds - static_cast<double>(end.tv_sec)) * 1e6);
  event_base_loopexit(base, &end);
  const bare::Stopwatch watch;
  for (const auto& connection : connections) connection->send();
  event_base_dispatch(base);
  std::int64_t exchanges = 0;
  for (const auto& connection : connections) exchanges += connection->exchanges;
  watch.print(exchanges);
}

}  // namespace

int main(int argc, char** argv) {
  const bare::Arguments arguments = bare::parse(argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  event_config* config = event_config_new();
  event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
  event_base* base = event_base_new_with_config(config);
  event_config_free(config);
  arguments.server ? run_server(base, arguments.port) : run_client(base, arguments);
  event_base_free(base);
}
