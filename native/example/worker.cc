// A whole worker in one file: transport example, whose event loop is poll(2).
// The kit brings the rest: what goes over a connection (kit/flow.h), connected
// and listening sockets, both ends (kit/ends.h) and the conversation with the
// bench. It is tested like any other worker and not installed: poll looks at
// every connection each time, and a library worth measuring has a directory of
// its own.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <mutex>

#include "kit/clock.h"
#include "kit/descriptor.h"
#include "kit/ends.h"

namespace {

using namespace netdyno;

/// Ends a poll on another thread.
class Wake {
 public:
  void call() { eventfd_write(fd_.get(), 1); }
  void heard() {
    eventfd_t calls = 0;
    eventfd_read(fd_.get(), &calls);
  }
  pollfd entry() const { return {fd_.get(), POLLIN, 0}; }

 private:
  Descriptor fd_{eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

/// A connection: moves bytes between its socket and its flow, which says which.
struct Line {
  Descriptor fd;
  std::unique_ptr<Flow> flow;
  bool active = true;

  pollfd entry() const {
    const int events = (flow->room().empty() ? 0 : POLLIN) | (flow->unsent() ? POLLOUT : 0);
    return {fd.get(), static_cast<short>(events), 0};
  }

  /// One read and one write, so that no connection keeps the loop for itself;
  /// false when the connection is lost.
  bool move(bool readable) {
    if (const auto room = flow->room(); readable && !room.empty()) {
      const ssize_t n = recv(fd.get(), room.data(), room.size(), 0);
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

/// poll for at most ns; Agenda::kNever waits for events alone.
void wait(std::vector<pollfd>& entries, std::int64_t ns) {
  const std::int64_t left = std::max<std::int64_t>(0, ns);
  const timespec bound{left / 1'000'000'000, left % 1'000'000'000};
  ppoll(entries.data(), entries.size(), ns == Agenda::kNever ? nullptr : &bound, nullptr);
}

class PollClient : public ClientLoop {
 public:
  void add(int fd, std::unique_ptr<Flow> flow, bool active) override {
    lines_.push_back({Descriptor(fd), std::move(flow), active});
    opened(active);
  }

  void run() override {
    for (Line& line : lines_) line.flow->begin(now_ns());
    while (!stopped_ && agenda().held() > 0) {
      send_due();
      std::vector<pollfd> entries{wake_.entry()};
      for (const Line& line : lines_) entries.push_back(line.entry());
      const std::int64_t due = agenda().next_due();
      wait(entries, due == Agenda::kNever ? due : due - now_ns());
      if (entries[0].revents != 0) wake_.heard();
      for (std::size_t i = 0; i < lines_.size(); i++) {
        const short events = entries[i + 1].revents;
        if (events != 0 && !lines_[i].move(events != POLLOUT)) lose(lines_[i]);
      }
    }
  }

  void end(std::int64_t closing) override {
    closing_ = closing;
    wake_.call();
  }
  void stop() override {
    stopped_ = true;
    wake_.call();
  }

 private:
  /// Gives the flows the slots whose time has come, and forgets those that the
  /// end of the load leaves out.
  void send_due() {
    if (closing_ != Agenda::kNever) agenda().end(closing_);
    while (agenda().next_due() <= now_ns()) {
      const Agenda::Entry entry = agenda().take();
      lines_[entry.connection].flow->send(entry.slot);
    }
  }

  /// poll passes over what has no descriptor.
  void lose(Line& line) {
    line.flow->abandon(contract::ErrorKind::peer, now_ns());
    line.fd = Descriptor();
    lost(line.active);
  }

  Wake wake_;
  std::vector<Line> lines_;
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  std::atomic<bool> stopped_{false};
};

class PollServer : public ServerLoop {
 public:
  void listen(int listener, std::function<void(int fd)> admit) override {
    doors_.push_back({Descriptor(listener), std::move(admit)});
  }

  void adopt(int fd, std::unique_ptr<Flow> flow) override {
    const std::lock_guard lock(mutex_);
    arrived_.push_back({Descriptor(fd), std::move(flow)});
    wake_.call();
  }

  void run() override {
    while (!stopped_) {
      take_in();
      std::vector<pollfd> entries{wake_.entry()};
      for (const Line& line : lines_) entries.push_back(line.entry());
      for (const Door& door : doors_) entries.push_back({full_ ? -1 : door.fd.get(), POLLIN, 0});
      wait(entries, full_ ? kPause : Agenda::kNever);
      full_ = false;
      if (entries[0].revents != 0) wake_.heard();
      for (std::size_t i = 0; i < doors_.size(); i++) {
        if (entries[1 + lines_.size() + i].revents != 0) accept_at(doors_[i]);
      }
      for (std::size_t i = lines_.size(); i-- > 0;) {  // backwards: what is lost leaves the list
        if (entries[1 + i].revents != 0 && !served(lines_[i], entries[1 + i].revents != POLLOUT)) drop(i);
      }
    }
  }

  void stop() override {
    stopped_ = true;
    wake_.call();
  }

 private:
  static constexpr std::int64_t kPause = 10'000'000;
  struct Door {
    Descriptor fd;
    std::function<void(int fd)> admit;
  };

  void take_in() {
    const std::lock_guard lock(mutex_);
    for (Line& line : arrived_) {
      line.flow->begin(0);
      lines_.push_back(std::move(line));
    }
    arrived_.clear();
  }

  void accept_at(const Door& door) {
    const int fd = accept4(door.fd.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) return door.admit(fd);
    if (errno == EAGAIN) return;
    refused++;
    full_ = true;  // out of files: asking again at once would be a spin
  }

  /// A client that breaks the wire's rules loses its connection, no more.
  static bool served(Line& line, bool readable) {
    try {
      return line.move(readable);
    } catch (const contract::Failure&) {
      return false;
    }
  }

  void drop(std::size_t i) {
    std::swap(lines_[i], lines_.back());
    lines_.pop_back();
  }

  Wake wake_;
  std::vector<Door> doors_;
  std::vector<Line> lines_;
  std::mutex mutex_;
  std::vector<Line> arrived_;  // guarded by mutex_
  std::atomic<bool> stopped_{false};
  bool full_ = false;
};

class Example : public Transport {
 public:
  contract::Transport describe() const override {
    return loop_transport("example", "poll(2) on one thread or several, as short as can be");
  }
  std::unique_ptr<Server> server(const contract::Setup& setup) override {
    return std::make_unique<LoopServer>(setup, std::make_unique<PollServer>);
  }
  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    return std::make_unique<LoopClient>(setup, load, std::make_unique<PollClient>);
  }
};

}  // namespace

int main() {
  Example example;
  return run_worker({"example-worker", NETDYNO_VERSION, {}}, {&example});
}
