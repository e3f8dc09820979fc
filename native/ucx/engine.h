// UCX in one loop: a worker, the channels on it, and what they have to tell.
//
// Layer: above context, memory; below channel's implementation. One thread at a time.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kit/messages.h"
#include "kit/system.h"
#include "ucx/channel.h"
#include "ucx/context.h"

namespace netdyno::ucx {

class Engine final : public MessageEngine, Pinned {
 public:
  /// The number of the active messages of all channels.
  static constexpr unsigned kActive = 1;

  Engine(const MessageTerms& terms, const Settings& settings);
  ~Engine() override;

  std::unique_ptr<MessageChannel> open(int control, std::uint32_t number) override;
  bool progress(Arrivals& arrivals) override;
  void wait(std::int64_t until_ns, int wake) override;
  bool polls() const override { return !settings_.event; }
  std::string path(const MessageChannel& channel) const override;

  // What follows is for channels.
  const Settings& settings() const { return settings_; }
  ucp_worker_h worker() const { return context_.worker(); }
  const Memories& memories() const { return memories_; }
  Sources& sources() { return sources_; }
  std::size_t max_message() const { return max_message_; }
  /// The memory that takes all messages at whose content nobody looks.
  Memory& shared() { return shared_; }

  /// Whether UCX may reach a host's end through shared memory.
  bool may_share_memory(const std::string& host) const;
  /// Its loop has done with a channel.
  void retire(Channel& channel);
  /// A message arrived: at once if the engine makes progress, else when it next does.
  /// Of counted ones only the size is looked at.
  void tell(Channel& channel, std::span<const char> message, bool counted);
  /// Calls channel's settle once after this progress.
  void settle(Channel& channel) { settling_.push_back(&channel); }
  void broke(Channel& channel) { broken_.push_back(&channel); }

 private:
  struct Held {
    Channel* channel;
    std::string copy;  // empty when counted
    std::span<const char> counted;
  };
  static ucs_status_t heard(void* engine, const void* head, std::size_t head_size, void* bytes,
                            std::size_t size, const ucp_am_recv_param_t* param);
  void listen();
  bool poll_streams();
  void tell_held(Arrivals& arrivals);
  bool forget_retired();

  Settings settings_;
  std::size_t max_message_;
  Store store_;  // before the context: UCX finds the device in use
  Context context_;
  Memories memories_;
  Sources sources_;
  Memory shared_;
  int event_ = -1;
  Arrivals* arrivals_ = nullptr;  // while it makes progress
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, std::unique_ptr<Channel>> channels_;
  std::vector<Channel*> retired_;  // of these, those that wait for what is under way
  std::vector<Held> held_;
  std::vector<Channel*> settling_;
  std::vector<Channel*> broken_;
};

}  // namespace netdyno::ucx
