// One connection over UCX: an endpoint, what is outstanding on it, how it ends, and how the two
// ends introduce themselves. An operation derives its own channel from it (operations.h).
//
// Layer: above context. The thread of its engine.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kit/messages.h"
#include "kit/system.h"
#include "ucx/context.h"

namespace netdyno::ucx {

struct Introduction {
  Operation operation = Operation::tag;
  std::uint64_t id = 0;      // how the other end names this end of the connection
  std::uint64_t memory = 0;  // address of the memory that the other end puts into
  std::string key;           // of that memory; both empty but for operation put
  std::string host = {};     // identity of the host's kernel since it booted
  std::string worker;        // the worker's address

  std::string text() const;
  /// Reads what the other end sent. Throws Failure{invalid} for anything else.
  static Introduction read(const std::string& text);
};

class Engine;

class Channel : Pinned {
 public:
  Channel(Engine& engine, std::uint64_t id) : engine_(engine), id_(id) {}
  virtual ~Channel() = default;

  // As MessageChannel has them.
  virtual bool full() const;
  virtual void send(std::span<const char> message) = 0;
  virtual void flush() {}
  virtual void only_count() {}

  /// What the other end has to know.
  virtual void introduce(Introduction& mine);
  /// Connects to the other end. Throws Failure{setup}.
  virtual void connect(const Introduction& theirs);
  /// Nobody wants what comes from now on: begins to end what is under way.
  void close();
  /// Whether a closed channel has nothing under way, so that it can be destroyed.
  bool at_rest();
  /// An active message for this channel: its kind and its bytes.
  virtual void heard(std::uint64_t kind, std::string_view bytes);
  /// Bytes of a stream are there.
  virtual void readable() {}
  /// The engine has made progress: what was held back goes now.
  virtual void settle() {}

  /// Gives back what belongs to the worker, at rest.
  virtual void release() {}

  /// Breaks the channel; the engine tells its loop.
  void fail(const std::string& text);
  const std::string& broken() const { return broken_; }
  std::uint64_t id() const { return id_; }
  /// What its loop holds of it; nullptr when it is closed.
  MessageChannel* held() const { return closing_ ? nullptr : held_; }
  void hold(MessageChannel& held) { held_ = &held; }
  ucp_ep_h endpoint() const { return endpoint_; }

 protected:
  /// What precedes an active message.
  struct Head {
    std::uint64_t id;    // of the receiving channel
    std::uint64_t kind;  // as the operation has them
  };

  Engine& engine() { return engine_; }
  const Engine& engine() const { return engine_; }
  std::uint64_t their_id() const { return their_id_; }
  bool closing() const { return closing_; }

  /// Parameters of a call of UCX whose end calls back with context.
  ucp_request_param_t parameters(void* context) const;
  /// Takes what a call of UCX returned. True when it is under way: then its callback
  /// calls ended. Breaks the channel when the call failed.
  bool begun(ucs_status_ptr_t request);
  /// A call's callback: it ended with status. False when that broke the channel.
  bool ended(void* request, ucs_status_t status);
  /// Parameters of a call that sends a message, and takes what it returned: the message
  /// is outstanding until its callback has come.
  ucp_request_param_t sending();
  void message_begun(ucs_status_ptr_t request);
  /// So many more messages are outstanding, or fewer, where no callback tells.
  void outstanding(std::int64_t change) { outstanding_ += change; }
  /// Throws Failure{peer} when the channel is broken.
  void require_whole() const;
  /// Sends an active message of its own bytes, which is not outstanding.
  void say(std::uint64_t kind, std::string bytes);
  /// Ends what would wait for the other end forever.
  virtual void cancel() {}

 private:
  /// An active message of its own bytes, until it was sent.
  struct Saying {
    Channel* channel;
    Head head;
    std::string bytes;
  };
  static void sent(void* request, ucs_status_t status, void* channel);
  static void said(void* request, ucs_status_t status, void* saying);

  Engine& engine_;
  std::uint64_t id_;
  std::uint64_t their_id_ = 0;
  ucp_ep_h endpoint_ = nullptr;
  std::int64_t outstanding_ = 0;  // messages, up to the window
  std::int64_t under_way_ = 0;    // calls of UCX whose callbacks have not come
  MessageChannel* held_ = nullptr;
  bool forceful_ = false;  // UCX can end what is under way to a lost peer
  bool closing_ = false;
  ucs_status_ptr_t close_ = nullptr;  // of the endpoint, while it goes on
  std::string broken_;
};

/// What a loop holds of a channel. The engine keeps the channel until what is under way
/// on it has ended.
class HeldChannel final : public MessageChannel, Pinned {
 public:
  HeldChannel(Engine& engine, Channel& channel) : engine_(engine), channel_(channel) { channel.hold(*this); }
  ~HeldChannel() override;

  bool full() const override { return channel_.full(); }
  void send(std::span<const char> message) override { channel_.send(message); }
  void flush() override { channel_.flush(); }
  void only_count() override { channel_.only_count(); }
  const Channel& channel() const { return channel_; }

 private:
  Engine& engine_;
  Channel& channel_;
};

}  // namespace netdyno::ucx
