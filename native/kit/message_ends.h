// The client and the server of a transport whose library moves whole messages: a loop
// per thread, one engine in each, the connections spread over the loops. A library
// brings its engine (kit/messages.h), and the kit the rest: control sockets, wire-up,
// verification, load, counts, and what way the messages took.
//
// Each connection has a control socket, TCP from the client to the server's address.
// The client begins with a greeting that names the connection; then the library's two
// ends speak on it (MessageEngine::open). Afterwards it is silent, and its end tells
// that the other end is gone.
//
// Layer: above message_loop, message_door, work.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kit/loops.h"
#include "kit/message_door.h"
#include "kit/message_loop.h"
#include "kit/messages.h"
#include "kit/work.h"
#include "kit/worker.h"

namespace netdyno {

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

class MessageServer : public Server {
 public:
  /// Listens; throws Failure when it cannot, or when the library cannot be used here.
  MessageServer(const contract::Setup& setup, const MakeEngine& make, const MessageDemands& demands);
  ~MessageServer() override;
  MessageServer(const MessageServer&) = delete;
  MessageServer& operator=(const MessageServer&) = delete;

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
