#include "threads/transfers.h"

#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "kit/options.h"
#include "kit/stream.h"

namespace netdyno::threads_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;

namespace {

constexpr char kSend[] = "send";
constexpr char kReceive[] = "receive";

// In the order of their enumerations.
const std::vector<std::string> kSends = {"write", "sendfile", "splice", "zerocopy"};
const std::vector<std::string> kReceives = {"read", "truncate", "splice"};

/// The position of an option's level among its choices. Another level than the first is
/// for wire stream alone.
std::size_t level(const contract::Setup& setup, const char* name, const std::vector<std::string>& choices) {
  const auto text = setup.options.at(name).get<std::string>();
  if (text != choices.front() && setup.exchange.stream == contract::Stream::none) {
    throw Failure(ErrorKind::setup, "option " + std::string(name) + " is " + text +
                                        ", which only wire stream has; expected " + choices.front());
  }
  return static_cast<std::size_t>(std::find(choices.begin(), choices.end(), text) - choices.begin());
}

}  // namespace

Settings Settings::of(const contract::Setup& setup) {
  if (setup.threads > 0) {
    throw Failure(
        ErrorKind::unsupported,
        "transport threads has one thread for each connection, which cannot be changed (threads is " +
            std::to_string(setup.threads) + ", expected 0)");
  }
  if (setup.load.connections > kMaxConnections) {
    throw Failure(ErrorKind::unsupported,
                  "load.connections is " + std::to_string(setup.load.connections) +
                      "; transport threads has one thread for each and takes at most " +
                      std::to_string(kMaxConnections) + ". Event loops (uring, asio, libevent) take more");
  }
  Settings settings;
  settings.send = static_cast<Send>(level(setup, kSend, kSends));
  settings.receive = static_cast<Receive>(level(setup, kReceive, kReceives));
  settings.lowat = setup.options.at("lowat").get<std::int64_t>();
  return settings;
}

std::vector<Option> setting_options() {
  return {
      choice_option(
          kSend, kSends,
          "wire stream. sendfile: from a file in memory that holds the block; splice: the process's "
          "pages through a pipe (vmsplice, splice); zerocopy: the process's pages by MSG_ZEROCOPY, "
          "which the kernel copies after all on loopback: at its end the worker says how many"),
      choice_option(kReceive, kReceives,
                    "wire stream, after the verified exchange. truncate: MSG_TRUNC drops the bytes in the "
                    "kernel; splice: through a pipe to /dev/null. Neither reaches the process's memory; "
                    "delivery is chunks all the same"),
      bytes_option("lowat", {0, 0, 64 << 20},
                   "SO_RCVLOWAT: the kernel wakes who receives once so many bytes are there, or the rest of "
                   "a message if that is less; 0 leaves it at one")};
}

std::string Account::text() const {
  if (sends == 0 && plain == 0) return "";
  return "MSG_ZEROCOPY: " + std::to_string(sends) + " sends, " + std::to_string(completed) + " completed, " +
         std::to_string(copied) + " of them copied by the kernel after all; " + std::to_string(plain) +
         " more were sent plainly, as the kernel could keep account of no more\n";
}

Account& account() {
  static Account one;
  return one;
}

namespace {

/// Asked of the kernel: what any user may have by default (fs.pipe-max-size). With less,
/// bytes pass in smaller portions.
constexpr int kBytes = 1 << 20;

}  // namespace

Pipe::Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw contract::Failure(
        contract::ErrorKind::setup,
        "make a pipe for option splice: " + std::generic_category().message(errno) + "; raise `ulimit -n`");
  }
  out = Descriptor(ends[0]);
  in = Descriptor(ends[1]);
  fcntl(in.get(), F_SETPIPE_SZ, kBytes);
}

namespace {

class Writing final : public Sender {
 public:
  ssize_t send(int fd, std::span<const char> bytes, bool wait) override {
    return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
  }
};

class SendingFile final : public Sender {
 public:
  explicit SendingFile(const Block& block) : block_(block) {}

  /// Does not wait only where the socket does not block: sendfile has no flag for it.
  ssize_t send(int fd, std::span<const char> bytes, bool) override {
    off_t from = at_ % block_.bytes();
    const ssize_t n = sendfile(fd, block_.file(), &from, bytes.size());
    if (n > 0) at_ = (at_ + n) % block_.message_bytes();
    return n;
  }

 private:
  const Block& block_;
  std::int64_t at_ = 0;  // bytes sent of the message under way
};

class Splicing final : public Sender {
 public:
  ssize_t send(int fd, std::span<const char> bytes, bool wait) override {
    if (piped_ == 0) {
      const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
      const ssize_t n = vmsplice(pipe_.in.get(), &piece, 1, 0);
      if (n < 0) return n;
      piped_ = static_cast<std::size_t>(n);
    }
    const ssize_t n =
        splice(pipe_.out.get(), nullptr, fd, nullptr, piped_, wait ? 0U : unsigned{SPLICE_F_NONBLOCK});
    if (n > 0) piped_ -= static_cast<std::size_t>(n);
    return n;
  }

 private:
  Pipe pipe_;
  std::size_t piped_ = 0;  // bytes in the pipe: the first of those to send next
};

/// A flow's bytes never change, so they may be sent again before the kernel has done with
/// them. Its notices are taken in all the same, else it would have no room for more.
class ZeroCopying final : public Sender {
 public:
  ssize_t send(int fd, std::span<const char> bytes, bool wait) override {
    if (!prepared_) prepare(fd);
    const int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
    ssize_t n = ::send(fd, bytes.data(), bytes.size(), flags | MSG_ZEROCOPY);
    if (n < 0 && errno == ENOBUFS) {
      settle(fd);
      n = ::send(fd, bytes.data(), bytes.size(), flags);
      if (n > 0) account().plain++;
      return n;
    }
    if (n <= 0) return n;
    account().sends++;
    if (++unsettled_ % kSettleAfter == 0) settle(fd);
    return n;
  }

  void settle(int fd) override {
    alignas(cmsghdr) char control[256];
    for (;;) {
      msghdr message{};
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
      for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        note(*part);
      }
    }
  }

 private:
  /// The kernel puts the notices of consecutive sends together, so that there are fewer
  /// of them than of sends.
  static constexpr int kSettleAfter = 16;

  void prepare(int fd) {
    const int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) != 0) {
      throw Failure(ErrorKind::unsupported,
                    "set SO_ZEROCOPY for option send=zerocopy: " + std::generic_category().message(errno));
    }
    prepared_ = true;
  }

  static void note(const cmsghdr& part) {
    const bool errors = (part.cmsg_level == SOL_IP && part.cmsg_type == IP_RECVERR) ||
                        (part.cmsg_level == SOL_IPV6 && part.cmsg_type == IPV6_RECVERR);
    sock_extended_err said{};
    if (!errors || part.cmsg_len < CMSG_LEN(sizeof said)) return;
    std::memcpy(&said, CMSG_DATA(&part), sizeof said);
    if (said.ee_origin != SO_EE_ORIGIN_ZEROCOPY) return;
    const std::int64_t sends = std::int64_t{said.ee_data - said.ee_info} + 1;  // a range of their numbers
    account().completed += sends;
    if ((said.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0) account().copied += sends;
  }

  bool prepared_ = false;
  int unsettled_ = 0;
};

}  // namespace

Block::Block(const contract::Setup& setup) : message_bytes_(0), bytes_(0) {
  const bool up = setup.role == contract::Role::client;
  const StreamPlan plan(setup);
  const StreamContent& content = up ? plan.up() : plan.down();
  const std::span<const char> block = content.from(0);
  message_bytes_ = content.bytes();
  bytes_ = static_cast<std::int64_t>(block.size());
  file_ = Descriptor(memfd_create("block", MFD_CLOEXEC));
  if (file_.get() >= 0 && write(file_.get(), block.data(), block.size()) == bytes_) return;
  throw Failure(ErrorKind::setup,
                "make a file in memory for option send=sendfile: " + std::generic_category().message(errno));
}

std::unique_ptr<Sender> make_sender(const Settings& settings, const Block* block) {
  switch (settings.send) {
    case Send::sendfile:
      return std::make_unique<SendingFile>(*block);
    case Send::splice:
      return std::make_unique<Splicing>();
    case Send::zerocopy:
      return std::make_unique<ZeroCopying>();
    default:
      return std::make_unique<Writing>();
  }
}

Receiver::Receiver(const Settings& settings, std::int64_t message_bytes, bool blocks)
    : settings_(settings), message_bytes_(message_bytes), rest_(message_bytes), blocks_(blocks) {
  if (settings_.receive != Receive::splice) return;
  pipe_.emplace();
  sink_ = Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (sink_.get() >= 0) return;
  throw Failure(ErrorKind::setup,
                "open /dev/null for option receive=splice: " + std::generic_category().message(errno));
}

ssize_t Receiver::receive(int fd, std::span<char> buffer, bool drop, Waiting waiting) {
  ssize_t n;
  // splice(2) has no flag against waiting for a socket.
  if (drop && pipe_ && (waiting != Waiting::must_not || !blocks_)) {
    n = spliced(fd, buffer.size());
  } else {
    const bool truncates = drop && settings_.receive == Receive::truncate;
    n = recv(fd, buffer.data(), buffer.size(),
             (truncates ? MSG_TRUNC : 0) | (waiting == Waiting::may ? 0 : MSG_DONTWAIT));
  }
  if (n > 0) rest_ = message_bytes_ - (message_bytes_ - rest_ + n) % message_bytes_;
  return n;
}

ssize_t Receiver::spliced(int fd, std::size_t most) {
  const ssize_t n = splice(fd, nullptr, pipe_->in.get(), nullptr, most, 0);
  for (ssize_t left = n; left > 0;) {
    const ssize_t dropped =
        splice(pipe_->out.get(), nullptr, sink_.get(), nullptr, static_cast<std::size_t>(left), 0);
    if (dropped <= 0) return dropped;
    left -= dropped;
  }
  return n;
}

/// Asks the kernel to wake this thread no earlier than the option says. For the rest of a
/// message that is less, because nothing may follow it until it is answered.
void Receiver::prepare(int fd) {
  if (settings_.lowat == 0) return;
  low_water_.set(fd, std::min(settings_.lowat, rest_));
}

}  // namespace netdyno::threads_worker
