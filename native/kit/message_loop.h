// The loop of both ends over a library that moves whole messages: it hands each flow's
// bytes to the library as messages, and each arrival to its flow.
//
// Layer: above messages, flow, agenda. One thread at a time; end and stop from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kit/agenda.h"
#include "kit/descriptor.h"
#include "kit/flow.h"
#include "kit/messages.h"

namespace netdyno {

class MessageLoop : private MessageEngine::Arrivals {
 public:
  /// A server drops a connection whose flow fails; a client fails with it.
  MessageLoop(contract::Role role, std::unique_ptr<MessageEngine> engine)
      : role_(role), engine_(std::move(engine)) {}
  ~MessageLoop() override;
  MessageLoop(const MessageLoop&) = delete;
  MessageLoop& operator=(const MessageLoop&) = delete;

  Agenda& agenda() { return agenda_; }
  const MessageEngine& engine() const { return *engine_; }

  /// Opens the channel of connection number over its control socket. The loop keeps the
  /// socket, because its end is how a lost peer shows. Returns the connection's number
  /// in the loop.
  std::size_t open(Descriptor control, std::uint32_t number);
  /// Gives a connection the flow that its messages belong to from now on, and begins it
  /// when run begins, or at once if asked. active says whether it carries load.
  void carry(std::size_t connection, std::unique_ptr<Flow> flow, bool active, bool begin);
  const MessageChannel& channel(std::size_t connection) const { return *links_[connection].channel; }
  /// Whether both ends of the connection are on one kernel.
  bool same_host(std::size_t connection) const { return links_[connection].same_host; }

  /// One turn: sends what is due, moves what can be moved. True when anything was.
  bool turn();
  /// A client's run: until no slot is held or stop is called.
  void run();
  /// Waits until the library has something to do, at most until then.
  void wait(std::int64_t until_ns) { engine_->wait(until_ns); }
  /// Why the connection was lost; empty while it is there.
  const std::string& lost_because(std::size_t connection) const { return links_[connection].lost; }

  void end(std::int64_t closing) { closing_ = closing; }
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  std::int64_t open_connections() const { return open_.load(std::memory_order_relaxed); }
  std::int64_t active_connections() const { return active_; }

 private:
  struct Link {
    Descriptor control;
    std::unique_ptr<MessageChannel> channel;
    std::unique_ptr<Flow> flow;
    bool active = false;
    bool same_host = false;
    std::string lost;
  };

  void arrived(MessageChannel& channel, std::span<const char> message) override;
  void lost(MessageChannel& channel, const std::string& text) override;
  void pump(Link& link);
  void lose(Link& link, const std::string& text);
  bool watch(std::int64_t now);
  std::int64_t latest_wake(std::int64_t now) const;

  contract::Role role_;
  std::unique_ptr<MessageEngine> engine_;
  Agenda agenda_;
  std::vector<Link> links_;
  std::int64_t watched_ns_ = 0;
  std::atomic<std::int64_t> closing_{Agenda::kNever};
  bool ended_ = false;
  std::atomic<bool> stopped_{false};
  std::atomic<std::int64_t> open_{0};
  std::int64_t active_ = 0;
};

}  // namespace netdyno
