// The settings of transport threads, beyond those of every transport over TCP; ways to hand a
// flow's outgoing bytes to the kernel (option send), and to take received bytes from it (options
// receive and lowat).
//
// Layer: threads worker, bottom. One connection's thread uses a sender and a receiver; a Block is
// immutable.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kit/contract.h"
#include "kit/system.h"

namespace netdyno::threads_worker {

/// Connections, and so threads, of one process. Each client's thread counts on its own,
/// in histograms of 240 KiB.
constexpr std::int64_t kMaxConnections = 256;

enum class Send { write, sendfile, splice, zerocopy };
enum class Receive { read, truncate, splice };

struct Settings {
  Send send = Send::write;
  Receive receive = Receive::read;
  std::int64_t lowat = 0;  // SO_RCVLOWAT in bytes; 0 leaves it alone

  /// Reads a setup's complete options. Throws Failure: setup for an option that only wire
  /// stream has, on wire echo; unsupported for a number of threads or connections that
  /// this transport cannot have.
  static Settings of(const contract::Setup& setup);
};

/// Options send, receive and lowat.
std::vector<contract::Option> setting_options();

/// What became of the sends by MSG_ZEROCOPY of one process. Any thread.
struct Account {
  std::atomic<std::int64_t> sends{0};
  /// Of them, those that the kernel has said to be over: it no longer uses their pages.
  std::atomic<std::int64_t> completed{0};
  /// Of these, those whose bytes it copied after all (SO_EE_CODE_ZEROCOPY_COPIED).
  std::atomic<std::int64_t> copied{0};
  /// Sends for which the kernel had no room to keep account (ENOBUFS): they were plain.
  std::atomic<std::int64_t> plain{0};

  /// One line for people, or nothing where there was no such send.
  std::string text() const;
};

/// The one of this process.
Account& account();

/// A pipe that bytes pass between a socket and something else without being copied. One thread uses it.
struct Pipe {
  /// Throws Failure{setup} when files run out.
  Pipe();

  Descriptor out;  // to read from
  Descriptor in;   // to write to
};

/// What one direction of wire stream sends, in a file in memory: the block that every
/// message repeats.
class Block {
 public:
  /// The block that this end of a trial sends. Throws Failure{setup}.
  explicit Block(const contract::Setup& setup);

  int file() const { return file_.get(); }
  std::int64_t message_bytes() const { return message_bytes_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t message_bytes_;
  std::int64_t bytes_;
  Descriptor file_;
};

class Sender {
 public:
  virtual ~Sender() = default;

  /// Sends the first bytes of what the connection has to send next, at most the given
  /// ones: how many, or -1 with errno. Waits until the kernel takes some, unless wait is
  /// false or the socket does not block.
  virtual ssize_t send(int fd, std::span<const char> bytes, bool wait) = 0;
  /// Takes in what the kernel says of earlier sends. Call it when poll reports POLLERR.
  virtual void settle(int) {}
};

/// The sender that the settings ask for. block is null where they need none, and outlives
/// the sender. Throws Failure{setup}.
std::unique_ptr<Sender> make_sender(const Settings& settings, const Block* block);

/// Whether a receive may wait: it may; poll has said that bytes are there; or it may not.
enum class Waiting { may, polled, must_not };

class Receiver {
 public:
  /// message_bytes is the size of every message that comes; blocks says whether the socket
  /// does. Throws Failure{setup}.
  Receiver(const Settings& settings, std::int64_t message_bytes, bool blocks);

  /// Takes at most buffer.size() received bytes: how many, 0 at the connection's end, or -1
  /// with errno. Where drop is true, buffer may stay as it
  /// is.
  ssize_t receive(int fd, std::span<char> buffer, bool drop, Waiting waiting);
  /// Makes poll wait for what option lowat says. Call it before poll.
  void prepare(int fd);

 private:
  ssize_t spliced(int fd, std::size_t most);

  Settings settings_;
  std::int64_t message_bytes_;
  std::int64_t rest_;  // bytes that are still to come of the message under way
  bool blocks_;
  LowWater low_water_;
  std::optional<Pipe> pipe_;  // with receive=splice
  Descriptor sink_;
};

}  // namespace netdyno::threads_worker
