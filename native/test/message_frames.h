// A library of whole messages as small as can be: frames of a length and its bytes over
// a socket, TCP or UNIX. It can be told to misbehave. Layer: test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kit/messages.h"
#include "kit/system.h"

namespace netdyno::test {

/// What a server's channels do wrong: nothing, flip a byte of each message, or send each
/// message twice.
enum class Fault { none, content, surplus };

struct FrameSettings {
  bool unix_sockets = false;
  bool polls = false;
  Fault fault = Fault::none;
};

class FrameChannel final : public MessageChannel {
 public:
  /// open is where the channel's engine finds it while it lives.
  FrameChannel(Descriptor socket, std::vector<FrameChannel*>& open, Fault fault);
  ~FrameChannel() override;
  FrameChannel(const FrameChannel&) = delete;
  FrameChannel& operator=(const FrameChannel&) = delete;

  bool full() const override { return !unsent_.empty(); }
  void send(std::span<const char> message) override;

  /// Writes what is left of a message. True when anything was written.
  bool write_rest();
  /// Reads once, and tells of every message that is whole. True when anything was read.
  bool read(MessageEngine::Arrivals& arrivals, std::size_t max_message);
  int socket() const { return socket_.get(); }

 private:
  Descriptor socket_;
  std::vector<FrameChannel*>& open_;
  Fault fault_;
  std::string unsent_;
  std::string unread_;  // frames that are not whole yet
};

class FrameEngine final : public MessageEngine {
 public:
  FrameEngine(const MessageTerms& terms, const FrameSettings& settings)
      : terms_(terms), settings_(settings) {}

  std::unique_ptr<MessageChannel> open(int control, std::uint32_t number) override;
  bool progress(Arrivals& arrivals) override;
  void wait(std::int64_t until_ns, int wake) override;
  bool polls() const override { return settings_.polls; }
  std::string path(const MessageChannel&) const override {
    return settings_.unix_sockets ? "frames/unix" : "frames/tcp";
  }

 private:
  MessageTerms terms_;
  FrameSettings settings_;
  std::vector<FrameChannel*> open_;
};

}  // namespace netdyno::test
