// A complete worker in one file: transport example, whose event loop is poll(2). The kit
// brings the rest: what goes over a connection (kit/flow.h), connected and listening
// sockets, client and server (kit/ends.h), and the worker contract. It is tested like any
// other worker but not installed, because poll looks at every connection each time. A
// library worth measuring has a directory of its own.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>

#include "kit/ends.h"
#include "kit/system.h"

namespace {

using namespace netdyno;

/// Ends a poll on another thread.
class Waker {
 public:
  void wake() { eventfd_write(fd_.get(), 1); }
  void clear() {
    eventfd_t calls = 0;
    eventfd_read(fd_.get(), &calls);
  }
  pollfd entry() const { return {fd_.get(), POLLIN, 0}; }

 private:
  Descriptor fd_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

/// A connection: moves bytes between its socket and its flow.
struct Connection {
  Descriptor fd;
  std::unique_ptr<Flow> flow;

  pollfd entry() const {
    const int events = (flow->read_buffer().empty() ? 0 : POLLIN) | (flow->unsent() ? POLLOUT : 0);
    return {fd.get(), static_cast<short>(events), 0};
  }

  /// Reads once and writes once, so that no connection occupies the loop. False when the
  /// connection is lost.
  bool move(bool readable) {
    if (const auto buffer = flow->read_buffer(); readable && !buffer.empty()) {
      const ssize_t n = recv(fd.get(), buffer.data(), buffer.size(), 0);
      if (n == 0 || (n < 0 && errno != EAGAIN)) return false;
      if (n > 0) flow->received(static_cast<std::size_t>(n), now_ns());
    }
    if (!flow->unsent()) return true;
    const auto bytes = flow->outgoing(now_ns());
    const ssize_t n = send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) flow->written(static_cast<std::size_t>(n));
    return n > 0 || errno == EAGAIN;
  }
};

/// Polls for at most ns. Agenda::kNever sets no limit.
void wait(std::vector<pollfd>& entries, std::int64_t ns) {
  const std::int64_t left = std::max<std::int64_t>(0, ns);
  const timespec bound{left / 1'000'000'000, left % 1'000'000'000};
  ppoll(entries.data(), entries.size(), ns == Agenda::kNever ? nullptr : &bound, nullptr);
}

class PollClient : public ClientLoop {
 public:
  void add(int fd, std::unique_ptr<Flow> flow, bool active) override {
    connections_.push_back({Descriptor(fd), std::move(flow)});
    opened(active);
  }

  void run() override {
    for (Connection& connection : connections_) connection.flow->begin(now_ns());
    while (!stopped() && agenda().held() > 0) {
      heed();
      send_due(
          [this](std::size_t connection, std::uint32_t slot) { connections_[connection].flow->send(slot); });
      std::vector<pollfd> entries{waker_.entry()};
      for (const Connection& connection : connections_) entries.push_back(connection.entry());
      const std::int64_t due = agenda().next_due();
      wait(entries, due == Agenda::kNever ? due : due - now_ns());
      if (entries[0].revents != 0) waker_.clear();
      for (std::size_t i = 0; i < connections_.size(); i++) {
        const short events = entries[i + 1].revents;
        if (events != 0 && !connections_[i].move(events != POLLOUT)) lose(i);
      }
    }
  }

 private:
  void wake() override { waker_.wake(); }

  /// poll skips entries without a descriptor.
  void lose(std::size_t i) {
    connections_[i].flow->abandon(contract::ErrorKind::peer, now_ns());
    connections_[i].fd = Descriptor();
    lost(i);
  }

  Waker waker_;
  std::vector<Connection> connections_;
};

class PollServer : public ServerLoop {
 public:
  void listen(int listener, std::function<void(int fd)> admit) override {
    listeners_.push_back({Descriptor(listener), std::move(admit)});
  }

  void run() override {
    while (!stopped()) {
      take_in();
      std::vector<pollfd> entries{waker_.entry()};
      for (const Connection& connection : connections_) entries.push_back(connection.entry());
      for (const Listener& listener : listeners_)
        entries.push_back({full_ ? -1 : listener.fd.get(), POLLIN, 0});
      const std::int64_t rest = traffic.rests.next();
      const std::int64_t most = full_ ? kAcceptPauseNs : Agenda::kNever;
      wait(entries, rest == Rests::kNever ? most : std::min(most, rest - now_ns()));
      wake_rested([](void*) {});  // the next poll looks at all connections
      full_ = false;
      if (entries[0].revents != 0) waker_.clear();
      for (std::size_t i = 0; i < listeners_.size(); i++) {
        if (entries[1 + connections_.size() + i].revents != 0) accept_at(listeners_[i]);
      }
      for (std::size_t i = connections_.size(); i-- > 0;) {  // backwards: what is lost leaves the list
        if (entries[1 + i].revents != 0 && !served(connections_[i], entries[1 + i].revents != POLLOUT))
          drop(i);
      }
    }
  }

 private:
  struct Listener {
    Descriptor fd;
    std::function<void(int fd)> admit;
  };

  void wake() override { waker_.wake(); }

  void take_in() {
    for (Newcomer& newcomer : newcomers()) {
      newcomer.flow->begin(0);
      connections_.push_back({std::move(newcomer.socket), std::move(newcomer.flow)});
    }
  }

  void accept_at(const Listener& listener) {
    const int fd = accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) return listener.admit(fd);
    if (errno == EAGAIN) return;
    refused++;
    full_ = true;  // files ran out: pause before the next accept
  }

  /// A client that breaks the wire's rules loses only its connection.
  static bool served(Connection& connection, bool readable) {
    try {
      return connection.move(readable);
    } catch (const contract::Failure&) {
      return false;
    }
  }

  void drop(std::size_t i) {
    std::swap(connections_[i], connections_.back());
    connections_.pop_back();
  }

  Waker waker_;
  std::vector<Listener> listeners_;
  std::vector<Connection> connections_;
  bool full_ = false;
};

}  // namespace

int main() {
  LoopTransport example(loop_transport("example", "poll(2) on one thread or several, as short as can be"),
                        Engine::of<PollServer, PollClient>());
  return run_worker({"example-worker", NETDYNO_VERSION, {}}, {&example});
}
