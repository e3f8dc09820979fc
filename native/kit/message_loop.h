// The loop of both ends over a library that moves whole messages: it hands each flow's
// bytes to the library as messages, and each arrival to its flow.
//
// Layer: above messages, flow, agenda. One thread at a time; end, stop and wake from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kit/agenda.h"
#include "kit/descriptor.h"
#include "kit/flow.h"
#include "kit/message_watch.h"
#include "kit/messages.h"

namespace netdyno {

class MessageLoop : private MessageEngine::Arrivals {
 public:
  /// A server drops a connection whose flow fails; a client fails with it.
  MessageLoop(contract::Role role, std::unique_ptr<MessageEngine> engine)
      : role_(role), engine_(std::move(engine)), polls_(engine_->polls()) {}
  ~MessageLoop() override;
  MessageLoop(const MessageLoop&) = delete;
  MessageLoop& operator=(const MessageLoop&) = delete;

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

  void arrived(MessageChannel& channel, std::span<const char> message) noexcept override;
  void lost(MessageChannel& channel, const std::string& text) noexcept override;
  std::int64_t instant() const;
  void send_due(std::int64_t now);
  bool pump();
  bool pump(Link& link);
  void look(std::size_t connection);
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
  std::int64_t idle_turns_ = 0;  // since anything was sent or moved
  bool ended_ = false;
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  std::atomic<bool> stopped_{false};
  std::atomic<std::int64_t> open_{0};
  std::int64_t active_ = 0;
};

}  // namespace netdyno
