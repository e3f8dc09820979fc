// The client and the server of a transport whose library moves whole messages (kit/messages.h):
// a loop's channels and their flows; where clients come in; the two ends.
//
// Layer: above messages, loops, sockets. Threads: as kit/worker.h says; what is a loop's belongs to
// its thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kit/agenda.h"
#include "kit/contract.h"
#include "kit/flow.h"
#include "kit/loops.h"
#include "kit/messages.h"
#include "kit/sockets.h"
#include "kit/system.h"
#include "kit/work.h"
#include "kit/worker.h"

namespace netdyno {

/// Where clients come in: it listens, accepts control sockets and reads their greetings, on a
/// thread of its own. A stranger that says nothing holds up nobody.
class MessageDoor : Pinned {
 public:
  /// What becomes of a client's control socket: blocking, with time-outs, its greeting
  /// read. Called on the door's thread.
  using Admit = std::function<void(Descriptor control, std::uint32_t number)>;

  /// Listens; nobody comes in before open. Throws Failure{setup} when it cannot.
  explicit MessageDoor(const contract::Setup& setup);
  ~MessageDoor();

  /// Lets clients in from now on. Once.
  void open(Admit admit);
  /// Lets nobody in from now on. The second call does nothing.
  void close();

  const std::vector<std::string>& addresses() const { return addresses_; }
  /// The host that it listens on.
  std::string host() const;
  /// Clients that spoke another protocol. Any thread.
  std::int64_t strangers() const { return strangers_; }
  /// Who may knock, and who was refused for their address.
  const Allowed& allowed() const { return allowed_; }
  /// Accepts that failed, for example when files run out; it tries again after 10 ms.
  /// Any thread.
  std::int64_t refused() const { return refused_; }

 private:
  /// An accepted socket whose greeting has still to come.
  struct Guest {
    Descriptor control;
    std::int64_t until_ns;
  };

  void run();
  void accept_at(int listener);
  void hear(Guest& guest, bool readable, std::int64_t now);

  Allowed allowed_;
  std::vector<std::string> addresses_;
  std::vector<Descriptor> listeners_;
  Descriptor stop_event_;
  Admit admit_;
  std::vector<Guest> guests_;
  bool rests_ = false;  // the last accept failed
  std::atomic<std::int64_t> strangers_{0};
  std::atomic<std::int64_t> refused_{0};
  std::thread thread_;
};

/// The control sockets of a loop's connections: silent, and their end tells that the other end is gone.
/// Besides, other threads wake the loop by it.
///
/// One loop's thread; wake from any.
class MessageWatch {
 public:
  /// Throws std::system_error when the kernel gives no descriptor.
  MessageWatch();

  /// Watches a connection's control socket, until it is closed.
  void add(int control, std::size_t connection);
  /// Readable while anything is to be seen: once a socket ends, and after wake.
  int descriptor() const { return epoll_.get(); }
  /// The connections whose control sockets ended since the last call. One system call
  /// when none did.
  std::vector<std::size_t> ended();
  /// Makes descriptor() readable until the next call of ended.
  void wake() const;

 private:
  Descriptor epoll_;
  Descriptor event_;
};

/// The loop of both ends over a library that moves whole messages: it hands each flow's bytes to the library
/// as messages, and each arrival to its flow.
///
/// One thread at a time; end, stop and wake from any.
class MessageLoop : private MessageEngine::Arrivals, Pinned {
 public:
  /// A server drops a connection whose flow fails; a client fails with it.
  MessageLoop(contract::Role role, std::unique_ptr<MessageEngine> engine)
      : role_(role), engine_(std::move(engine)), polls_(engine_->polls()) {}
  ~MessageLoop() override;

  Agenda& agenda() { return agenda_; }
  const MessageEngine& engine() const { return *engine_; }

  /// Opens the channel of connection number over its control socket. The loop keeps the
  /// socket, because its end is how a lost peer shows. Returns the connection's number
  /// in the loop. Throws as MessageEngine::open does.
  std::size_t open(Descriptor control, std::uint32_t number);
  /// Gives a connection the flow that its messages belong to from now on. active says
  /// whether it carries load.
  void carry(std::size_t connection, std::unique_ptr<Flow> flow, bool active);
  /// Begins the flow of a connection; run begins those that have not begun.
  void begin(std::size_t connection);

  /// One turn: sends what is due, moves what can be moved. True when anything was. A
  /// client's throws the Failure of a flow.
  bool turn();
  /// Waits until there is something to do, at most until then. With an engine that
  /// polls, a loop waits only while it has no connection.
  void wait(std::int64_t until_ns);
  /// A client's run: until no slot is held or stop is called.
  void run();

  const MessageChannel& channel(std::size_t connection) const { return *links_[connection].channel; }
  int control(std::size_t connection) const { return links_[connection].control.get(); }
  /// Whether both ends of the connection are on one kernel.
  bool same_host(std::size_t connection) const { return links_[connection].same_host; }
  /// Why the connection was lost; empty while it is there.
  const std::string& lost_because(std::size_t connection) const { return links_[connection].lost; }

  void end(std::int64_t closing);
  void stop();
  void wake() const { watch_.wake(); }

  std::int64_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  std::int64_t active_connections() const { return active_; }

 private:
  struct Link {
    Descriptor control;
    std::unique_ptr<MessageChannel> channel;
    std::unique_ptr<Flow> flow;
    bool begun = false;
    bool active = false;
    bool same_host = false;
    bool waits = false;   // it is in waiting_
    bool counts = false;  // the channel knows that nobody looks at what arrives
    std::string lost;
  };

  std::size_t arrived(MessageChannel& channel, std::span<const char> message,
                      std::size_t times) noexcept override;
  void lost(MessageChannel& channel, const std::string& text) noexcept override;
  std::int64_t instant() const;
  void send_due(std::int64_t now);
  bool pump();
  bool pump(Link& link);
  void look(std::size_t connection);
  std::size_t send_some(Link& link, std::size_t most, std::int64_t now);
  void lose(Link& link, const std::string& text);
  bool watch(std::int64_t now);
  void close_lost();

  contract::Role role_;
  std::unique_ptr<MessageEngine> engine_;
  bool polls_;
  MessageWatch watch_;
  Agenda agenda_;
  std::vector<Link> links_;
  std::vector<std::size_t> waiting_;  // links whose flows have something to send
  std::vector<std::size_t> lost_;     // links whose channels are still to be closed
  std::exception_ptr failure_;        // of a client's flow, to be thrown outside the library
  std::int64_t watched_ns_ = 0;
  std::int64_t turns_ = 0;
  std::int64_t idle_turns_ = 0;  // since anything was sent or moved
  bool ended_ = false;
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  std::atomic<bool> stopped_{false};
  std::atomic<std::int64_t> open_{0};
  std::int64_t active_ = 0;
};

/// The description of a transport of its own wire, with the features of such ends.
contract::Transport message_transport(const std::string& name, const std::string& doc);

/// What a library's transport demands of its ends.
struct MessageDemands {
  int max_loops = 1;  // threads that the library can use in one process
  /// The way that the setup asks for, as contract::Path::over; empty for any. A trial
  /// whose messages take another one fails.
  std::string over = {};
  /// What a way within one host is called that no counter sees.
  std::string unseen = "shm";
};

/// Each connection has a control socket, TCP from the client to the server's address. The client
/// begins with a greeting that names the connection; then the library's two ends speak on it
/// (MessageEngine::open). Afterwards it is silent, and its end tells that the other end is gone.
class MessageClient : public Client {
 public:
  /// Connects, verifies every connection, and finds out what way the messages take.
  MessageClient(const contract::Setup& setup, Load& load, const MakeEngine& make, MessageDemands demands);

  contract::Ready ready() const override;
  void run() override { loops_.run(); }
  void ended() override { loops_.end(); }
  void close() override { loops_.close(); }
  std::int64_t connections() const override { return loops_.open_connections(); }

 private:
  void connect(std::size_t loop);
  void verify(MessageLoop& loop, std::size_t connection, std::int64_t number);
  void exchange_once(MessageLoop& loop, std::size_t connection, std::int64_t number);
  contract::Path find_path(MessageLoop& loop, std::size_t connection);
  std::string watch_path(MessageLoop& loop, std::size_t connection);
  void demand(const contract::Path& path) const;

  contract::Setup setup_;
  Load& load_;
  MessageDemands demands_;
  std::unique_ptr<const Work> work_;
  std::atomic<bool> cancelled_{false};
  contract::Path path_;
  Loops<MessageLoop> loops_;  // last: its loops use the rest
};

class MessageServer : public Server, Pinned {
 public:
  /// Listens; throws Failure when it cannot, or when the library cannot be used here.
  MessageServer(const contract::Setup& setup, const MakeEngine& make, const MessageDemands& demands);
  ~MessageServer() override;

  contract::Ready ready() const override;
  contract::Counts counts() const override;

 private:
  /// A loop with its thread, and the clients that came in for it.
  struct Serving {
    std::unique_ptr<MessageLoop> loop;
    Traffic traffic;
    std::mutex mutex;
    std::vector<std::pair<Descriptor, std::uint32_t>> arrivals;
    std::atomic<bool> asked{false};  // arrivals holds some
    std::thread thread;
  };

  void admit(Descriptor control, std::uint32_t number);
  void serve(Serving& serving);
  void take_in(Serving& serving);

  contract::Setup setup_;
  std::unique_ptr<const Work> work_;
  std::atomic<bool> stopped_{false};
  std::vector<std::unique_ptr<Serving>> servings_;
  MessageDoor door_;  // last: its thread fills arrivals
};

}  // namespace netdyno
