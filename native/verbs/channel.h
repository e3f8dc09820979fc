// One connection, and the memory that the card may reach for it.
//
// Layer: above card. One thread at a time.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kit/cuda.h"
#include "kit/messages.h"
#include "kit/system.h"
#include "verbs/card.h"

namespace netdyno::verbs {

// Memory that the card may reach. Registering pins pages, which takes longer than sending them, so it is
// done once for each block that a trial sends from.
//
// One thread at a time.

using Registration = Owned<ibv_mr, ibv_dereg_mr>;

/// Memory of our own, registered for the card to write to.
class Pages {
 public:
  Pages() = default;
  /// access are IBV_ACCESS flags. Throws Failure{setup}.
  Pages(ibv_pd& domain, const Store& store, std::size_t bytes, int access);
  Pages(Pages&& other) noexcept = default;
  Pages& operator=(Pages&& other) noexcept = default;

  char* at(std::size_t offset) const { return memory_.get() + offset; }
  const ibv_mr& registration() const { return *registration_; }

 private:
  struct Release {
    Store store{};  // of memory that has to do with a GPU
    std::size_t bytes = 0;
    std::size_t registered = 0;
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Release> memory_{nullptr, Release()};
  Registration registration_;  // goes before the memory
};

/// Registrations of others' memory, by address.
class PinDownCache {
 public:
  PinDownCache(ibv_pd& domain, const Store& store) : domain_(domain), on_device_(store.on_device()) {}

  /// The registration that holds the bytes; made when there is none. They stay where
  /// they are while the cache lives. Throws Failure{setup}.
  const ibv_mr& of(std::span<const char> bytes);

 private:
  ibv_pd& domain_;
  bool on_device_;
  std::map<std::uintptr_t, Registration> by_end_;  // by the address behind its last byte
  const ibv_mr* last_ = nullptr;                   // most messages come from the same block
};

class Channel;

/// What the channels of one engine share.
struct Shared {
  Shared(const Settings& asked, const Store& where, const std::string& address)
      : settings(asked), store(where), card(asked, address), copies(where), sources(card.domain(), where) {}

  /// Where a message's bytes are sent from.
  std::span<const char> lying(std::span<const char> message);
  /// A message that arrived, where the host can read it: until the next call.
  std::span<const char> readable(std::span<const char> message);

  Settings settings;
  Store store;
  Card card;
  BlockCopies copies;  // of messages that lie on the device
  PinDownCache sources;
  std::vector<char> read;                                    // of the device's memory
  Owned<ibv_comp_channel, ibv_destroy_comp_channel> events;  // none where it polls
  Owned<ibv_cq, ibv_destroy_cq> completions;
  std::unordered_map<std::uint32_t, Channel*> channels;  // by the number of their queue pair
};

/// One connection: a reliably connected queue pair and the ring that messages arrive in.
///
/// The receiver grants room: a sender has no more messages under way than the receiver has slots that are
/// free, so that no request ever meets a receiver without a buffer. Each message carries, in its immediate,
/// how many slots were freed the other way, and whether anybody looks at what lies in them; a message
/// without bytes carries nothing else.
///
/// Its loop's thread.
class Channel final : public MessageChannel, Pinned {
 public:
  /// Makes the queue pair and posts receives. Throws Failure{setup}.
  Channel(Shared& shared, std::size_t max_message);
  ~Channel() override;

  /// Requests that may be complete and not yet polled.
  static std::uint32_t completions_of(const Settings& settings, std::size_t max_message);

  Greeting greeting() const;
  /// Connects the queue pair to the other end's. Throws Failure{setup}.
  void connect(const Greeting& theirs);

  bool full() const override;
  void send(std::span<const char> message) override;
  void flush() override;
  void only_count() override { counting_ = true; }

  /// A request of this channel completed.
  void completed(const ibv_wc& completion, MessageEngine::Arrivals& arrivals);
  /// After a batch of completions: posts receives anew, reads what was announced, and
  /// grants room that the other end waits for. Throws Failure{peer}.
  void settle();

 private:
  /// Where a message lies that the other end announced.
  struct Announced {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
    std::uint32_t bytes = 0;
  };
  /// A request that is not handed to the card yet.
  struct Request {
    ibv_send_wr wr{};
    ibv_sge part{};
  };
  enum class Kind : std::uint8_t { receive = 1, sent, read };

  void make_queue_pair();
  void post_receives();
  Request& request(ibv_wr_opcode opcode, std::span<const char> bytes, std::uint32_t key);
  void submit();
  void announce(std::span<const char> message);
  void read_announced();
  void deliver(std::span<const char> message, MessageEngine::Arrivals& arrivals);
  void received(std::uint64_t buffer, const ibv_wc& completion, MessageEngine::Arrivals& arrivals);
  void reclaim(std::uint64_t posted);
  std::size_t offset(std::uint64_t number) const;
  std::span<const char> slot(std::uint64_t number, std::size_t bytes) const;
  std::uint32_t told();
  std::uint32_t used() const;

  Shared& shared_;
  std::uint32_t slots_;       // that this end grants
  std::uint32_t slot_bytes_;  // of each
  std::uint32_t receives_;    // that are posted when nothing has arrived
  std::uint32_t depth_;       // requests that the send queue holds
  std::uint32_t signal_every_;
  std::uint32_t inline_bytes_;
  std::uint32_t first_packet_;
  Pages ring_;
  Pages notes_;  // announcements: arriving ones, then our own
  Owned<ibv_qp, ibv_destroy_qp> queue_pair_;
  Greeting theirs_;
  std::uint32_t window_ = 0;  // messages that may be under way from here
  std::uint32_t grant_ = 1;   // slots that are told free without a message to go with

  std::array<Request, 16> requests_;  // the first pending_ of them wait for submit
  std::size_t pending_ = 0;
  std::uint64_t posted_ = 0;     // requests so far
  std::uint64_t reclaimed_ = 0;  // of them, whose place is free again
  std::uint32_t unsignaled_ = 0;

  std::uint64_t sent_ = 0;           // messages
  std::uint64_t granted_ = 0;        // of them, whose slot is free again
  std::uint64_t arrived_ = 0;        // messages
  std::uint32_t owed_ = 0;           // slots that were freed and not told yet
  std::vector<std::uint32_t> free_;  // receives to post anew, by their buffer

  std::vector<Announced> announcing_;
  std::uint64_t notes_sent_ = 0;
  std::deque<Announced> wanted_;     // announced and not yet asked for
  std::deque<std::uint32_t> pulls_;  // bytes of the reads under way
  bool counting_ = false;            // nobody looks at what arrives here
  bool theirs_counts_ = false;       // nor there
  bool lost_ = false;
};

}  // namespace netdyno::verbs
