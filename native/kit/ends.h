// The client and the server of a transport over TCP whose library has event loops:
// one loop per thread, with the connections spread over the loops. A library brings
// its loops, and the kit the rest.
//
// Layer: above work, sockets. Threads: one thread builds, fills and destroys a loop
// while it does not run; it runs on a thread of its own. Functions that any thread
// may call say so.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kit/agenda.h"
#include "kit/flow.h"
#include "kit/loops.h"
#include "kit/sockets.h"
#include "kit/system.h"
#include "kit/work.h"
#include "kit/worker.h"

namespace netdyno {

/// One event loop of a client.
class ClientLoop {
 public:
  virtual ~ClientLoop() = default;

  /// Takes over a connected socket and runs flow on it; a negative one stands for a
  /// connection that is over already. Call it before run. The
  /// connection's number in the agenda is how many were added before it. active says
  /// whether it carries load; a connection without load is watched for its end.
  virtual void add(int fd, std::unique_ptr<Flow> flow, bool active) = 0;
  /// Begins every flow, moves their bytes, and calls Flow::send when an entry of the
  /// agenda is due, until the agenda holds no slot or stop is called. Closes a
  /// connection that breaks and abandons its flow with kind peer.
  virtual void run() = 0;
  /// Drops what is due after closing (Agenda::end). Any thread.
  virtual void end(std::int64_t closing) {
    closing_ = closing;
    wake();
  }
  /// Makes run return soon. Any thread.
  virtual void stop() {
    stopped_ = true;
    wake();
  }

  /// How a connection is made again whose flow's fate is over: dial returns a socket that
  /// is connecting, or none. Call it before run.
  void redials(std::function<Descriptor(std::size_t connection)> dial) { dial_ = std::move(dial); }

  /// Tells a slot how long it takes to make connections anew. It is one of the loop's, and outlives it.
  /// Call it before run.
  void tells_connects(Slot& slot) { told_ = &slot; }

  Agenda& agenda() { return agenda_; }
  /// How the loop waits. Set it before run.
  Pace& pace() { return pace_; }
  /// Connections open now. Any thread.
  std::int64_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  /// Of them, those that carry load. Only while the loop does not run.
  std::int64_t active_connections() const { return active_; }
  /// Connections that were made again. Any thread.
  std::int64_t redialled() const { return redialled_.load(std::memory_order_relaxed); }

 protected:
  /// A socket that is connecting in place of one that is over. It holds none when that
  /// failed: the connection is lost then.
  Descriptor redial(std::size_t connection) {
    redialled_++;
    if (told_ != nullptr) begun_[connection] = now_ns();
    return dial_ ? dial_(connection) : Descriptor();
  }
  /// The connection that redial began is there (Flow::made).
  void made(std::size_t connection) {
    if (told_ != nullptr) told_->connected(now_ns() - begun_[connection]);
  }

  /// Ends the loop's wait, if it waits, and the next one. Any thread; must not block.
  virtual void wake() = 0;
  /// Whether run is to return.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// Drops what end says. Call it after a wait.
  void heed() {
    const std::int64_t closing = closing_.load(std::memory_order_relaxed);
    if (closing != Agenda::kNever && !std::exchange(heeded_, true)) agenda_.end(closing);
  }
  /// Calls send(connection, slot) for each that is due.
  template <class Send>
  void send_due(Send send) {
    while (agenda_.is_due(now_ns())) {
      const Agenda::Entry entry = agenda_.take();
      send(entry.connection, entry.slot);
    }
  }

  /// A loop calls these for each connection that it adds, in their order, or loses.
  void opened(bool active) {
    open_++;
    active_ += active ? 1 : 0;
    carries_.push_back(active);
    begun_.push_back(0);
  }
  void lost(std::size_t connection) {
    open_--;
    active_ -= carries_[connection] ? 1 : 0;
  }

 private:
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  std::atomic<bool> stopped_{false};
  bool heeded_ = false;
  std::vector<bool> carries_;        // load, by connection
  Slot* told_ = nullptr;             // of connections that are made anew; null where nobody asks
  std::vector<std::int64_t> begun_;  // when making one began, by connection; where it is told
  Agenda agenda_;
  Pace pace_{agenda_};
  std::function<Descriptor(std::size_t connection)> dial_;
  std::atomic<std::int64_t> redialled_{0};
  std::atomic<std::int64_t> open_{0};
  std::int64_t active_ = 0;
};

/// A client whose loops run on threads of their own, named "loop N".
class LoopClient : public Client {
 public:
  /// Connects and verifies every connection, on the wire of work. Loop i drives shard i of load.
  LoopClient(const contract::Setup& setup, Load& load,
             const std::function<std::unique_ptr<ClientLoop>()>& make, std::unique_ptr<const Work> work);
  ~LoopClient() override;

  contract::Ready ready() const override;
  void run() override { loops_.run(); }
  void ended() override { loops_.end(); }
  void close() override { loops_.close(); }
  std::int64_t connections() const override { return loops_.open_connections(); }
  std::int64_t redialled() const override;
  contract::Sent opened() const override { return opening_.sent(); }

 private:
  Dialler dialler_;
  std::unique_ptr<const Work> work_;
  std::int64_t wanted_;
  Opening opening_;
  bool fresh_;
  std::int64_t spin_;  // how long loops poll, in ns; 0 when they sleep
  contract::Options options_;
  Loops<ClientLoop> loops_;
};

/// How long accepting rests after it failed, in ns: trying at once could fail for ever.
inline constexpr std::int64_t kAcceptPauseNs = 10'000'000;

/// One event loop of a server.
class ServerLoop {
 public:
  virtual ~ServerLoop() = default;

  /// Takes over a listening socket, accepts on it by this loop, and passes each
  /// accepted descriptor to admit, which then owns it. Call it before run.
  virtual void listen(int listener, std::function<void(int fd)> admit) = 0;
  /// Takes over a connected socket and runs flow on it, beginning with Flow::begin. If
  /// the connection breaks or its flow throws Failure, the loop's thread closes the
  /// connection and destroys the flow. Any thread.
  void adopt(int fd, std::unique_ptr<Flow> flow) {
    {
      const std::lock_guard lock(mutex_);
      newcomers_.push_back({Descriptor(fd), std::move(flow)});
    }
    wake();
  }
  /// Runs until stop.
  virtual void run() = 0;
  /// Any thread.
  void stop() {
    stopped_ = true;
    wake();
  }

  Traffic traffic;
  /// Accepts that failed, for example when files run out. The loop tries again after
  /// kAcceptPauseNs.
  std::atomic<std::int64_t> refused{0};

 protected:
  struct Newcomer {
    Descriptor socket;
    std::unique_ptr<Flow> flow;
  };

  /// As ClientLoop's.
  virtual void wake() = 0;
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// The connections adopted since the last call. Call it after a wait.
  std::vector<Newcomer> newcomers() {
    const std::lock_guard lock(mutex_);
    return std::exchange(newcomers_, {});
  }
  /// Tells flows that they have rested, and calls go_on(connection) of each, which may destroy
  /// it. A loop waits no longer than until traffic.rests.next().
  template <class GoOn>
  void wake_rested(GoOn go_on) {
    if (traffic.rests.next() == Rests::kNever) return;
    const std::int64_t now = now_ns();
    while (ServerFlow* const flow = traffic.rests.take(now)) {
      void* const connection = flow->connection();
      flow->rested(now);
      go_on(connection);
    }
  }
  /// Adds a connection to a loop's list, where it has its place, its index.
  template <class List, class Connection>
  static auto& keep(List& list, Connection connection) {
    connection->index = list.size();
    return *list.emplace_back(std::move(connection));
  }
  /// Destroys one of such a list.
  template <class List>
  static void drop(List& list, std::size_t index) {
    std::swap(list[index], list.back());
    list[index]->index = index;
    list.pop_back();
  }

 private:
  std::mutex mutex_;
  std::vector<Newcomer> newcomers_;  // guarded by mutex_
  std::atomic<bool> stopped_{false};
};

/// Names of options.
constexpr char kListener[] = "listener";
constexpr char kReadBuffer[] = "read_buffer";
constexpr char kWait[] = "wait";
constexpr char kSpin[] = "spin";

/// Option listener of every loop server. shared: one loop accepts on one socket per
/// port and deals the connections out in turn. reuseport: every loop has its own
/// socket per port, and the kernel chooses one by hash.
contract::Option listener_option();
/// A transport whose client's loops do as their Agenda and their Pace say: it has options wait
/// and spin, whether a loop sleeps or polls until an event comes, and feature gather.
contract::Transport paced(contract::Transport transport);
/// Option read_buffer: the most that one read takes, per connection, in bytes.
contract::Option read_buffer_option();
/// All of these, those of paced and socket_options, for a wire of requests.
std::vector<contract::Option> loop_options();
/// The most that one read of a server takes by that option, or where it is 0, in bytes.
std::size_t read_size(const contract::Setup& setup);

/// Adds what one loop of a server has counted. Any thread.
void add_to(contract::Counts& counts, const Traffic& traffic);

/// The description of a transport of wires echo and stream that uses LoopServer and
/// LoopClient, with the options that all of these have, and more.
contract::Transport loop_transport(const std::string& name, const std::string& doc,
                                   std::vector<contract::Option> more = {});
/// Options one behind the other.
std::vector<contract::Option> joined(std::vector<contract::Option> options,
                                     const std::vector<contract::Option>& more);

/// A server whose loops run on threads of their own. It serves from construction to
/// destruction.
class LoopServer : public Server, Pinned {
 public:
  /// Listens, on the wire of work; throws Failure{setup} when it cannot.
  LoopServer(const contract::Setup& setup, const std::function<std::unique_ptr<ServerLoop>()>& make,
             std::unique_ptr<const Work> work);
  ~LoopServer() override;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  Allowed allowed_;
  std::unique_ptr<const Work> work_;
  contract::Options options_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<ServerLoop>> loops_;
  std::atomic<std::size_t> next_{0};  // whose turn it is, where one socket accepts for all
  std::vector<std::thread> threads_;
};

/// Who makes the loops of a setup's end: what a library of event loops brings.
struct Engine {
  template <class Loop>
  using Make = std::function<std::unique_ptr<Loop>()>;

  std::function<Make<ServerLoop>(const contract::Setup&)> servers;
  std::function<Make<ClientLoop>(const contract::Setup&)> clients;

  /// Loops that are made without an argument.
  template <class Servers, class Clients>
  static Engine of() {
    return {[](const contract::Setup&) { return std::make_unique<Servers>; },
            [](const contract::Setup&) { return std::make_unique<Clients>; }};
  }
  /// Loops that are made with what settings reads from a setup.
  template <class Servers, class Clients, class Settings>
  static Engine of(Settings settings) {
    return {[settings](const contract::Setup& setup) {
              return [by = settings(setup)] { return std::make_unique<Servers>(by); };
            },
            [settings](const contract::Setup& setup) {
              return [by = settings(setup)] { return std::make_unique<Clients>(by); };
            }};
  }
};

/// A transport of such a library: on wires echo and stream, or on that of work.
class LoopTransport final : public Transport {
 public:
  using WorkOf = std::unique_ptr<const Work> (*)(const contract::Setup&);

  LoopTransport(contract::Transport description, Engine engine, WorkOf work = Work::of)
      : description_(std::move(description)), engine_(std::move(engine)), work_(work) {}

  contract::Transport describe() const override { return description_; }
  std::unique_ptr<Server> server(const contract::Setup& setup) override {
    return std::make_unique<LoopServer>(setup, engine_.servers(setup), work_(setup));
  }
  std::unique_ptr<Client> client(const contract::Setup& setup, Load& load) override {
    return std::make_unique<LoopClient>(setup, load, engine_.clients(setup), work_(setup));
  }

 private:
  contract::Transport description_;
  Engine engine_;
  WorkOf work_;
};

}  // namespace netdyno
