// connect_shard: connects and verifies a client's connections by one epoll.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kit/sockets.h"
#include "kit/system.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Connections of one shard that are being opened at a time.
constexpr std::size_t kMaxUnderWay = 256;
/// How long nothing may be connected or verified before that is an error.
constexpr std::int64_t kTimeoutNs = 10'000'000'000;
/// How often a shard checks whether another one failed.
constexpr int kPollMs = 100;
/// The same where an attempt waits to be made again, or has its limits.
constexpr int kRestPollMs = 5;

/// The error kind of a failed call, and advice.
std::pair<ErrorKind, std::string> diagnose(int code) {
  switch (code) {
    case EMFILE:
    case ENFILE:
      return {ErrorKind::setup, "; every connection needs a file descriptor, raise `ulimit -n`"};
    case EADDRNOTAVAIL:
      return {ErrorKind::setup, kNoPort};
    case ECONNREFUSED:
      return {ErrorKind::peer, "; nothing listens there"};
    default:
      return {ErrorKind::peer, ""};
  }
}

/// All connections of one shard, during one connect_shard.
class Connecting {
 public:
  Connecting(const contract::Setup& setup, const Work& work, int shard, int shards, Opening& opening)
      : setup_(setup), work_(work), opening_(opening), dialler_(setup), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_.get() < 0) throw std::system_error(errno, std::generic_category(), "create epoll");
    for (std::int64_t i = shard; i < setup.load.connections; i += shards) attempts_.emplace_back().number = i;
  }

  std::vector<Descriptor> run() {
    progress_ns_ = now_ns();
    for (std::size_t i = 0; i < kMaxUnderWay; i++) begin_next();
    while (verified_ < attempts_.size()) {
      if (opening_.cancelled) return {};
      wait();
      begin_again();
    }
    std::vector<Descriptor> all;
    for (Attempt& attempt : attempts_) all.push_back(std::move(attempt.fd));
    return all;
  }

 private:
  struct Attempt {
    std::int64_t number = 0;
    Descriptor fd;
    std::unique_ptr<Work::Verification> verification;  // from connected to verified
    std::size_t repeats = 0;
    bool asks = false;          // its request went out, at least in part
    bool asked = false;         // or did before it was made again
    std::int64_t again_ns = 0;  // when it is to be made again; 0 while it is made
    std::int64_t since_ns = 0;  // when it was begun, or its request sent; 0 where it is not under way
  };

  void begin_next() {
    if (begun_ < attempts_.size()) begin(begun_++);
  }

  void begin(std::size_t at) {
    Attempt& attempt = attempts_[at];
    guard(attempt, [&] {
      epoll_event event{};
      event.events = EPOLLIN | EPOLLOUT | EPOLLET;
      event.data.u64 = at;
      attempt.since_ns = now_ns();
      attempt.fd = dialler_.dial(attempt.number);
      const int fd = attempt.fd.get();
      if (fd < 0 || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) fail(attempt, "connect", errno);
    });
  }

  /// Makes a step of an attempt, and the attempt again later where its failure may pass.
  template <class Step>
  void guard(Attempt& attempt, Step step) {
    try {
      step();
    } catch (const Failure& failure) {
      const bool later = may_pass(attempt, failure);
      const bool chance = contract::is_of_exchange(failure.kind()) &&
                          attempt.repeats + 1 < contract::tries(setup_.load.max_errors);
      if (!later && !chance) {
        const std::string tried =
            attempt.repeats == 0 ? "" : " (tried " + std::to_string(attempt.repeats + 1) + " times)";
        throw Failure(failure.kind(), failure.what() + tried);
      }
      attempt.asks = false;
      attempt.since_ns = 0;
      opening_.repeated++;
      attempt.verification.reset();
      attempt.fd = Descriptor();
      progress_ns_ = now_ns();
      attempt.again_ns = progress_ns_ + (later ? Work::kRepeatMs[attempt.repeats] : 0) * 1'000'000;
      attempt.repeats++;
      resting_++;
    }
  }

  /// Whether the failure may pass after a rest.
  bool may_pass(const Attempt& attempt, const Failure& failure) const {
    const Work::Repeats repeats = work_.repeats();
    if (repeats == Work::Repeats::none || attempt.repeats >= Work::kRepeatMs.size()) return false;
    if (dynamic_cast<const Deferred*>(&failure) != nullptr) return true;
    const bool made = attempt.verification != nullptr;
    return failure.kind() == ErrorKind::peer && (!made || repeats == Work::Repeats::lost);
  }

  void begin_again() {
    if (resting_ == 0) return;
    const std::int64_t now = now_ns();
    for (std::size_t at = 0; at < begun_; at++) {
      if (attempts_[at].again_ns == 0 || attempts_[at].again_ns > now) continue;
      attempts_[at].again_ns = 0;
      resting_--;
      begin(at);
    }
  }

  void wait() {
    std::array<epoll_event, 64> events;
    const int most = resting_ == 0 && !looks() ? kPollMs : kRestPollMs;
    const int n = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), most);
    for (int i = 0; i < n; i++) {
      Attempt& attempt = attempts_[events[static_cast<std::size_t>(i)].data.u64];
      guard(attempt, [&] { advance(attempt); });
    }
    if (looks()) look(now_ns());
    if (now_ns() - progress_ns_ < kTimeoutNs) return;
    throw Failure(ErrorKind::timeout, "verify connections: " + describe_silence() + " for " +
                                          std::to_string(kTimeoutNs / 1'000'000'000) + " s");
  }

  /// Whether time passes for attempts of which nothing comes.
  bool looks() const { return setup_.load.deadline_ns > 0 || setup_.load.connect_ns > 0 || setup_.events; }

  /// Ends attempts that take longer to connect, or to be answered, than they may, and replies that have
  /// lasted long enough.
  void look(std::int64_t now) {
    if (now - looked_ns_ < kRestPollMs * 1'000'000) return;
    looked_ns_ = now;
    const auto over = [now](const Attempt& attempt, std::int64_t limit) {
      return limit > 0 && attempt.since_ns > 0 && now - attempt.since_ns > limit;
    };
    for (std::size_t at = 0; at < begun_; at++) {
      Attempt& attempt = attempts_[at];
      if (setup_.events && attempt.verification && attempt.asks) {
        guard(attempt, [&] {
          judged(attempt, [&] { attempt.verification->send(Agenda::kWatch); });
          advance(attempt);
        });
      }
      if (!over(attempt, attempt.asks ? setup_.load.deadline_ns : setup_.load.connect_ns)) continue;
      guard(attempt, [&] {
        if (attempt.asks)
          throw Failure(ErrorKind::timeout,
                        "verify " + name(attempt) + ": " + no_reply_within(setup_.load.deadline_ns));
        throw Failure(ErrorKind::timeout, "connect " + name(attempt) + ": no answer came within " +
                                              duration_text(setup_.load.connect_ns));
      });
    }
  }

  /// What the peer did and did not do so far.
  std::string describe_silence() const {
    std::int64_t arrived = 0;
    const Attempt* waiting = nullptr;
    for (const Attempt& attempt : attempts_) {
      if (!attempt.verification) continue;
      arrived += attempt.verification->arrived();
      if (waiting == nullptr) waiting = &attempt;
    }
    if (waiting == nullptr)
      return "no connection to the server at " + name(attempts_[verified_]) + " was made";
    const std::string begin = "the server, by " + name(*waiting) + ", ";
    if (arrived == 0) return begin + "accepted the connection and said nothing";
    return begin + "sent " + std::to_string(arrived) +
           " bytes, no whole reply among them, and said nothing more";
  }

  void advance(Attempt& attempt) {
    if (!attempt.verification) {
      int error = 0;
      socklen_t size = sizeof error;
      getsockopt(attempt.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) fail(attempt, "connect", error);
      attempt.verification = work_.verification(attempt.number);
      attempt.verification->begin(0);
    }
    do {
      write(attempt);
    } while (read(attempt));
    if (!attempt.verification->verified()) return;
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, attempt.fd.get(), nullptr);
    if (attempt.verification->fate() == Flow::Fate::over) attempt.fd = Descriptor();
    attempt.verification.reset();
    attempt.since_ns = 0;
    verified_++;
    begin_next();
  }

  /// Writes until nothing is left or the kernel takes no more.
  void write(Attempt& attempt) {
    while (attempt.verification->unsent()) {
      const auto bytes = attempt.verification->outgoing(0);
      const ssize_t n = send(attempt.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (n < 0) fail(attempt, "write to", errno);
      attempt.verification->written(static_cast<std::size_t>(n));
      count(attempt);
      progress_ns_ = now_ns();
    }
  }

  /// Counts the attempt's request when it goes out.
  void count(Attempt& attempt) {
    if (attempt.asks || !attempt.verification->asked()) return;
    attempt.asks = true;
    attempt.since_ns = now_ns();
    (std::exchange(attempt.asked, true) ? opening_.again : opening_.asked)++;
  }

  /// Reads once. False when nothing is there or the exchange is complete.
  bool read(Attempt& attempt) {
    const auto buffer = attempt.verification->read_buffer();
    if (buffer.empty()) return false;
    const ssize_t n = recv(attempt.fd.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (n < 0) {
      const int error = errno;
      // It may know better what that means: a peer that resets a handshake, for instance.
      if (attempt.verification->arrived() == 0) judged(attempt, [&] { attempt.verification->ended(0); });
      fail(attempt, "read from", error);
    }
    if (n == 0) return ended(attempt), false;
    judged(attempt, [&] { attempt.verification->received(static_cast<std::size_t>(n), 0); });
    progress_ns_ = now_ns();
    return !attempt.verification->verified();
  }

  void ended(const Attempt& attempt) const {
    judged(attempt, [&] { attempt.verification->ended(0); });
    if (attempt.verification->verified()) return;
    const std::int64_t arrived = attempt.verification->arrived();
    if (arrived == 0) throw Failure(ErrorKind::peer, name(attempt) + " was closed before anything came back");
    throw Failure(ErrorKind::invalid, name(attempt) + " was closed after " + std::to_string(arrived) +
                                          " bytes of " + std::to_string(setup_.exchange.down_bytes) +
                                          " that had to come back");
  }

  /// Adds the connection's name to what a verification finds wrong.
  template <class Step>
  void judged(const Attempt& attempt, Step step) const {
    try {
      step();
    } catch (const Deferred& deferred) {
      throw Deferred(deferred.kind(), "verify " + name(attempt) + ": " + deferred.what());
    } catch (const Failure& failure) {
      throw Failure(failure.kind(), "verify " + name(attempt) + ": " + failure.what());
    }
  }

  [[noreturn]] void fail(const Attempt& attempt, const std::string& verb, int code) const {
    const auto [kind, advice] = diagnose(code);
    throw Failure(kind, verb + " " + name(attempt) + ": " + std::generic_category().message(code) + advice);
  }

  std::string name(const Attempt& attempt) const {
    return "connection " + std::to_string(attempt.number + 1) + " of " +
           std::to_string(setup_.load.connections) + " to " + dialler_.peer(attempt.number).address().text();
  }

  const contract::Setup& setup_;
  const Work& work_;
  Opening& opening_;
  Dialler dialler_;
  Descriptor epoll_;
  std::vector<Attempt> attempts_;
  std::size_t begun_ = 0;
  std::size_t verified_ = 0;
  std::size_t resting_ = 0;  // attempts that are to be made again
  std::int64_t progress_ns_ = 0;
  std::int64_t looked_ns_ = 0;  // for attempts that are over their limits
};

}  // namespace

std::vector<Descriptor> connect_shard(const contract::Setup& setup, const Work& work, int shard, int shards,
                                      Opening& opening) {
  return Connecting(setup, work, shard, shards, opening).run();
}

}  // namespace netdyno
