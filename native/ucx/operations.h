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

/// Fetches messages one after the other while their content matters, then all at once
/// into one buffer: what active messages and gets have in common.
class FetchingChannel : public Channel {
 public:
  void only_count() override;

 protected:
  FetchingChannel(Engine& engine, std::uint64_t id);

  /// A message that is to be fetched: one of copy, descriptor and region is set.
  struct Fetch {
    std::size_t size = 0;
    std::string copy = {};       // it came whole, behind others that did not
    void* descriptor = nullptr;  // of an active message
    std::size_t region = 0;      // of the other end's memory
  };
  /// A fetch that is under way: context of its callback.
  struct UnderWay {
    FetchingChannel* channel;
    std::size_t size;
  };
  void queue(Fetch fetch);
  /// Whether nothing waits to be fetched or is being fetched.
  bool idle() const { return fetches_.empty() && fetching_ == 0; }
  /// Tells a message in its buffer, or where active messages come.
  void tell(std::span<const char> message);
  /// Begins to fetch into to, and returns what UCX returned; its callback calls fetched.
  virtual ucs_status_ptr_t begin(const Fetch& fetch, char* to, UnderWay* context) = 0;
  static void fetched(void* request, ucs_status_t status, UnderWay* context);
  /// A message was fetched and told.
  virtual void taken() {}

 private:
  void start();
  void done(std::size_t size);

  std::deque<Fetch> fetches_;
  std::size_t fetching_ = 0;
  bool counting_ = false;
  std::unique_ptr<Memory> own_;  // until messages are only counted
};

/// Active messages; long ones are fetched.
class AmChannel final : public FetchingChannel {
 public:
  AmChannel(Engine& engine, std::uint64_t id) : FetchingChannel(engine, id) {}
  void connect(const Introduction& theirs) override;
  void send(std::span<const char> message) override;
  ucs_status_t heard(std::uint64_t kind, void* bytes, std::size_t size, bool descriptor) override;

 private:
  ucs_status_ptr_t begin(const Fetch& fetch, char* to, UnderWay* context) override;

  Head head_{};
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
  ucs_status_t heard(std::uint64_t kind, void* bytes, std::size_t size, bool descriptor) override;
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
/// a turn, and the receiver answers how many it has got.
class GetChannel final : public FetchingChannel {
 public:
  GetChannel(Engine& engine, std::uint64_t id) : FetchingChannel(engine, id) {}
  void send(std::span<const char> message) override;
  void flush() override;
  ucs_status_t heard(std::uint64_t kind, void* bytes, std::size_t size, bool descriptor) override;
  void settle() override;
  void release() override;

 private:
  /// Memory of the other end.
  struct Region {
    std::uint64_t address;
    std::uint64_t size;
    ucp_rkey_h key;
  };
  ucs_status_ptr_t begin(const Fetch& fetch, char* to, UnderWay* context) override;
  void taken() override;
  void introduce(const Memory& source);
  void meet(std::string_view region);
  void announced(std::span<const std::uint64_t> messages);

  std::size_t introduced_ = 0;               // sources whose keys the other end has
  std::vector<std::uint64_t> announcement_;  // of the messages of this turn: source, size, …
  std::vector<Region> regions_;
  std::uint64_t unanswered_ = 0;
};

}  // namespace netdyno::ucx
