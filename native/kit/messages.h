// What a library that moves whole messages brings (MPI, UCX, verbs), so that the kit
// can do the rest: kit/message_ends.h makes a client and a server of it, whose
// connections are flows like those of wire stream. A message is what a flow hands out
// at once: a chunk where the exchange streams, else the whole of one direction.
//
// Layer: above contract. Threads: an engine and its channels belong to one loop. It may
// be built and connected on another thread than it runs on, never by two at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "kit/contract.h"
#include "kit/system.h"

namespace netdyno {

/// One connection. Messages arrive in the order in which they were sent, unmixed, until
/// the loop calls only_count.
class MessageChannel {
 public:
  virtual ~MessageChannel() = default;
  /// The connection's number in its loop; only the loop changes it.
  std::size_t index = 0;
  /// Whether as many messages are outstanding as may be: the next one waits until
  /// progress says otherwise.
  virtual bool full() const = 0;
  /// How many more may surely be outstanding.
  virtual std::size_t room() const { return full() ? 0 : 1; }
  /// Begins to send a message. The bytes stay where they are and do not change while
  /// the channel lives. Call it only when it is not full. Throws Failure{peer}.
  virtual void send(std::span<const char> message) = 0;
  /// The same message so many times, one behind the other: as many as there is room for.
  virtual void send(std::span<const char> message, std::size_t times) {
    for (; times > 0; times--) send(message);
  }
  /// The loop hands over no more messages in this turn: what was held back goes now.
  /// Throws Failure{peer}.
  virtual void flush() {}
  /// Nobody looks at what arrives from now on, only at how much: messages may land on
  /// each other in one buffer, and be told in another order. Never called by progress.
  virtual void only_count() {}
};

/// The library in one loop's thread.
class MessageEngine {
 public:
  /// Who is told what arrives. Neither call throws or sends, so that a library may make
  /// them from its own callbacks.
  class Arrivals {
   public:
    virtual ~Arrivals() = default;
    /// A message arrived. Its bytes are only valid during the call. On a channel that only
    /// counts it may stand for several as long, one behind the other. Returns how many bytes of the
    /// same exchange are sure to follow.
    virtual std::size_t arrived(MessageChannel& channel, std::span<const char> message,
                                std::size_t times = 1) noexcept = 0;
    /// The channel is broken; text says why. It is destroyed once progress has returned.
    virtual void lost(MessageChannel& channel, const std::string& text) noexcept = 0;
  };

  virtual ~MessageEngine() = default;

  /// Opens the channel of connection number. control is a TCP socket between the two
  /// ends of the connection, with time-outs set, on which the library's two ends may
  /// say what they need to find each other (exchange_addresses); both call open at the
  /// same time. Returns once messages can be sent, or throws Failure.
  virtual std::unique_ptr<MessageChannel> open(int control, std::uint32_t number) = 0;

  /// Moves what can be moved, and tells arrivals. True when anything was.
  virtual bool progress(Arrivals& arrivals) = 0;

  /// Waits until progress has something to do, at most until the instant of now_ns, and
  /// not while the descriptor wake is readable. Called when progress had nothing, and
  /// never on an engine that polls.
  virtual void wait(std::int64_t until_ns, int wake) = 0;
  /// Whether this engine cannot wait: its thread is busy when nothing happens.
  virtual bool polls() const = 0;

  /// How the library itself names the way of a channel's messages, in its own words,
  /// for instance "tcp/eth0". Empty when it does not tell.
  virtual std::string path(const MessageChannel& channel) const = 0;
};

/// What an engine is told when it is made.
struct MessageTerms {
  contract::Setup setup;        // with complete options; its role says which end this is
  std::size_t max_message = 0;  // no message of either direction is longer, in bytes
  /// The address of this end, as the other one sees it; a wildcard where a server
  /// listens on all of them.
  std::string host;
};

using MakeEngine = std::function<std::unique_ptr<MessageEngine>(const MessageTerms&)>;

/// Sends mine over a control socket and returns what the other end sends: opaque bytes,
/// at most 64 KiB. Throws Failure{peer} or {timeout} that says what was waited for.
std::string exchange_addresses(int control, const std::string& mine);

// How the two ends of a message library's connection meet: the client's control socket and its greeting.
//
// Plain functions; any thread.

/// What an end does with every exchange: a setup whose chunks are its messages. Where an
/// exchange does not stream, each direction is one message, or several of 64 MiB.
contract::Setup as_messages(const contract::Setup& setup);
/// The longest message of either direction, in bytes.
std::size_t longest_message(const contract::Setup& as_messages);

/// The client's own address on its way to the first peer. Throws Failure{setup} when no
/// way leads there.
std::string own_host(const contract::Setup& setup);

/// Connects the control socket of connection number and sends its greeting. Blocking,
/// with time-outs. Throws Failure{peer}, {timeout} or {setup}.
Descriptor dial_control(const contract::Setup& setup, std::int64_t number);

/// Prepares an accepted socket: blocking, with time-outs, and readable (poll(2)) no
/// earlier than a whole greeting is there.
void await_greeting(int control);
/// Reads the greeting of a socket that became readable, and returns the connection's
/// number. Throws Failure{peer} when the client is gone, and {invalid} when it says
/// anything else.
std::uint32_t read_greeting(int control);

}  // namespace netdyno
