#include "threads/sender.h"

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
#include <string>
#include <system_error>

#include "kit/stream.h"
#include "threads/account.h"
#include "threads/pipe.h"

namespace netdyno::threads_worker {

using contract::ErrorKind;
using contract::Failure;

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

}  // namespace netdyno::threads_worker
