// Where clients of a message library's server come in: it listens, accepts control
// sockets and reads their greetings, on a thread of its own. A stranger that says
// nothing holds up nobody.
//
// Layer: above message_wire_up, sockets. One thread builds and destroys it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kit/contract.h"
#include "kit/descriptor.h"
#include "kit/sockets.h"

namespace netdyno {

class MessageDoor {
 public:
  /// What becomes of a client's control socket: blocking, with time-outs, its greeting
  /// read. Called on the door's thread.
  using Admit = std::function<void(Descriptor control, std::uint32_t number)>;

  /// Listens; nobody comes in before open. Throws Failure{setup} when it cannot.
  explicit MessageDoor(const contract::Setup& setup);
  ~MessageDoor();
  MessageDoor(const MessageDoor&) = delete;
  MessageDoor& operator=(const MessageDoor&) = delete;

  /// Lets clients in from now on. Once.
  void open(Admit admit);
  /// Lets nobody in from now on. The second call does nothing.
  void close();

  const std::vector<std::string>& addresses() const { return addresses_; }
  /// The host that it listens on.
  std::string host() const;
  /// Clients that spoke another protocol. Any thread.
  std::int64_t strangers() const { return strangers_; }
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

}  // namespace netdyno
