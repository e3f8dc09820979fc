// How each operation of UCP carries a message.
//
// Layer: above channel, engine. The thread of the engine.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ucx/channel.h"
#include "ucx/engine.h"

namespace netdyno::ucx {

/// A channel for the engine's operation, not yet connected.
std::unique_ptr<Channel> make_channel(Engine& engine, std::uint64_t id);

/// Tagged messages: the tag names the receiving channel. At first one receive is posted,
/// then a whole window of them into one buffer.
class TagChannel final : public Channel {
 public:
  TagChannel(Engine& engine, std::uint64_t id);
  void connect(const Introduction& theirs) override;
  void send(std::span<const char> message) override;
  void only_count() override;

 private:
  struct Receive {
    TagChannel* channel = nullptr;
    void* request = nullptr;  // while it is posted
  };
  static void received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* receive);
  void cancel() override;
  void post(Receive& receive);
  void tell(std::size_t size);

  std::vector<Receive> receives_;
  std::unique_ptr<Memory> own_;  // until messages are only counted
  bool counting_ = false;
};

/// A byte stream: what arrives has no edges, and a flow needs none.
class StreamChannel final : public Channel {
 public:
  StreamChannel(Engine& engine, std::uint64_t id) : Channel(engine, id) {}
  void send(std::span<const char> message) override;
  void readable() override;
  void only_count() override { counting_ = true; }

 private:
  bool counting_ = false;
};

/// Puts into the receiver's memory. Once a turn's messages are there, an active message
/// tells their sizes; the receiver answers how many it has taken.
class PutChannel final : public Channel {
 public:
  PutChannel(Engine& engine, std::uint64_t id);
  void introduce(Introduction& mine) override;
  void connect(const Introduction& theirs) override;
  bool full() const override;
  void send(std::span<const char> message) override;
  void flush() override;
  void heard(std::uint64_t kind, std::string_view bytes) override;
  void settle() override;
  void only_count() override;
  void release() override;

 private:
  /// The messages of a turn, until they are flushed.
  struct Turn {
    PutChannel* channel;
    std::string sizes;
  };
  static void flushed(void* request, ucs_status_t status, void* turn);
  void arrived(std::span<const std::uint64_t> sizes);

  std::size_t slots_;  // of the receiver's memory, a message each
  Memory memory_;
  ucp_rkey_h key_ = nullptr;
  std::uint64_t theirs_ = 0;      // address of the other end's memory
  std::uint64_t put_ = 0;         // messages put
  std::uint64_t arrived_ = 0;     // messages that arrived
  std::uint64_t unanswered_ = 0;  // of these, those of which the sender does not know
  std::size_t untaken_ = 0;       // messages put of which the receiver has not answered
  bool overwrites_ = false;       // the receiver only counts
  bool counting_ = false;
  std::vector<std::uint64_t> turn_;  // sizes of the messages put since the last flush
};

/// The receiver gets messages from the sender's memory: the sender announces them, once
/// a turn, and the receiver answers how many it has got. It fetches one after the other while their
/// content matters, then all at once into one buffer.
class GetChannel final : public Channel {
 public:
  GetChannel(Engine& engine, std::uint64_t id);
  void send(std::span<const char> message) override;
  void flush() override;
  void heard(std::uint64_t kind, std::string_view bytes) override;
  void settle() override;
  void only_count() override;
  void release() override;

 private:
  /// Memory of the other end.
  struct Region {
    std::uint64_t address;
    std::uint64_t size;
    ucp_rkey_h key;
  };
  /// A message that is to be fetched.
  struct Fetch {
    std::size_t size;
    std::size_t region;
  };
  /// A fetch that is under way: context of its callback.
  struct UnderWay {
    GetChannel* channel;
    std::size_t size;
  };
  void introduce(const Memory& source);
  void meet(std::string_view region);
  void announced(std::span<const std::uint64_t> messages);
  void start();
  static void fetched(void* request, ucs_status_t status, void* context);
  void done(std::size_t size);

  std::deque<Fetch> fetches_;
  std::size_t fetching_ = 0;
  bool counting_ = false;
  std::unique_ptr<Memory> own_;              // until messages are only counted
  std::size_t introduced_ = 0;               // sources whose keys the other end has
  std::vector<std::uint64_t> announcement_;  // of the messages of this turn: source, size, …
  std::vector<Region> regions_;
  std::uint64_t unanswered_ = 0;
};

}  // namespace netdyno::ucx
