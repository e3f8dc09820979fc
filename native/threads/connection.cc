#include "threads/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

namespace netdyno::threads_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Stream;

namespace {

/// What the buffers of two sockets hold in any case, in bytes: the least that the kernel
/// lets a program set (SOCK_MIN_SNDBUF).
constexpr std::int64_t kHeld = 4'096;

/// Whether both ends may have more to send than sockets hold. A server reads nothing while
/// it returns an echo, so that only its client has to read at the same time.
bool travels_both_ways(const contract::Setup& setup) {
  if (setup.role == contract::Role::server) return setup.exchange.stream == Stream::both;
  const std::int64_t in_flight = std::max<std::int64_t>(1, setup.load.in_flight);
  return std::min(setup.exchange.up_bytes, setup.exchange.down_bytes) > kHeld / in_flight;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

Manner::Manner(const contract::Setup& setup)
    : settings_(Settings::of(setup)),
      client_(setup.role == contract::Role::client),
      both_ways_(travels_both_ways(setup)),
      // These two system calls wait or not as the socket does.
      blocks_(!both_ways_ || (settings_.send != Send::sendfile && settings_.receive != Receive::splice)),
      incoming_(client_ ? setup.exchange.down_bytes : setup.exchange.up_bytes) {
  if (settings_.send == Send::sendfile) block_ = std::make_unique<const Block>(setup);
}

Connection::Connection(const Manner& manner, Descriptor socket, std::unique_ptr<Flow> flow)
    : manner_(manner),
      socket_(std::move(socket)),
      waker_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      flow_(std::move(flow)),
      sender_(manner.sender()),
      receiver_(manner.receiver()) {
  const int status = fcntl(socket_.get(), F_GETFL);
  const int wanted = manner.blocks() ? status & ~O_NONBLOCK : status | O_NONBLOCK;
  if (waker_.get() >= 0 && status >= 0 && fcntl(socket_.get(), F_SETFL, wanted) == 0) return;
  throw Failure(ErrorKind::setup,
                "prepare a connection: " + std::generic_category().message(errno) + "; raise `ulimit -n`");
}

bool Connection::run(Agenda* agenda) {
  const bool kept = move(agenda);
  sender_->settle(socket_.get());
  return kept;
}

bool Connection::move(Agenda* agenda) {
  prctl(PR_SET_TIMERSLACK, 1);  // an open loop's sends would be up to 50 µs late
  flow_->begin(now());
  while (!stopped_) {
    Step step = Step::went;
    if (flow_->unsent()) step = send();
    const bool blocked = step == Step::blocked;
    if (agenda != nullptr && agenda->held() == 0) return true;
    const bool due = agenda != nullptr && agenda->next_due() != Agenda::kNever;
    if (step == Step::lost) {
    } else if (flow_->unsent() && !blocked) {
      // What has been answered meanwhile completes now and not after the last byte.
      if (manner_.client() || manner_.both_ways()) step = receive(Waiting::must_not);
    } else if (blocked || due || manner_.polls()) {
      step = await(blocked, agenda);
    } else {
      step = receive(Waiting::may);
    }
    if (step != Step::lost) continue;
    if (stopped_) break;
    flow_->abandon(ErrorKind::peer, now());
    return false;
  }
  return true;
}

bool Connection::watch() {
  std::array<pollfd, 2> fds = {{{socket_.get(), POLLIN, 0}, {waker_.get(), POLLIN, 0}}};
  while (poll(fds.data(), fds.size(), -1) < 0 && errno == EINTR) {
  }
  return fds[0].revents == 0 || stopped_;
}

void Connection::end(std::int64_t closing) {
  closing_ = closing;
  wake();
}

void Connection::stop() {
  stopped_ = true;
  wake();
  shutdown(socket_.get(), SHUT_RDWR);  // ends a call that waits
}

void Connection::release() { wake(); }

/// A server's flow records no times.
std::int64_t Connection::now() const { return manner_.client() ? now_ns() : 0; }

Connection::Step Connection::send() {
  const ssize_t n = sender_->send(socket_.get(), flow_->outgoing(now()), !manner_.both_ways());
  if (n > 0) flow_->written(static_cast<std::size_t>(n));
  if (n >= 0 || errno == EINTR) return Step::went;
  return would_block() ? Step::blocked : Step::lost;
}

Connection::Step Connection::receive(Waiting waiting) {
  const auto buffer = flow_->read_buffer();
  if (buffer.empty()) return Step::went;
  const ssize_t n = receiver_.receive(socket_.get(), buffer, flow_->drops(), waiting);
  if (n > 0) flow_->received(static_cast<std::size_t>(n), now());
  if (n > 0 || (n < 0 && (errno == EINTR || would_block()))) return Step::went;
  return Step::lost;
}

/// Waits until the socket is ready, an exchange is due or another thread wakes this one.
Connection::Step Connection::await(bool blocked, Agenda* agenda) {
  if (agenda != nullptr) fire(*agenda);
  if (flow_->unsent() && !blocked) return Step::went;
  receiver_.prepare(socket_.get());
  const int events = (flow_->read_buffer().empty() ? 0 : POLLIN) | (blocked ? POLLOUT : 0);
  std::array<pollfd, 2> fds = {{{socket_.get(), static_cast<short>(events), 0}, {waker_.get(), POLLIN, 0}}};
  timespec timeout{};
  const std::int64_t due = agenda == nullptr ? Agenda::kNever : agenda->next_due();
  const std::int64_t wait = std::max<std::int64_t>(0, due - (due == Agenda::kNever ? 0 : now_ns()));
  timeout.tv_sec = wait / 1'000'000'000;
  timeout.tv_nsec = wait % 1'000'000'000;
  if (ppoll(fds.data(), fds.size(), due == Agenda::kNever ? nullptr : &timeout, nullptr) < 0) {
    return errno == EINTR ? Step::went : Step::lost;
  }
  std::uint64_t count = 0;
  if (fds[1].revents != 0 && read(waker_.get(), &count, sizeof count) > 0 && agenda != nullptr) {
    agenda->end(closing_);
  }
  if (agenda != nullptr) fire(*agenda);
  if ((fds[0].revents & POLLERR) != 0) sender_->settle(socket_.get());
  return (fds[0].revents & (POLLIN | POLLHUP)) != 0 ? receive(Waiting::polled) : Step::went;
}

/// Sends what is due.
void Connection::fire(Agenda& agenda) {
  while (agenda.next_due() <= now_ns()) flow_->send(agenda.take().slot);
}

/// May be called any number of times; a full counter wakes all the same.
void Connection::wake() {
  const std::uint64_t one = 1;
  if (write(waker_.get(), &one, sizeof one) < 0) return;
}

}  // namespace netdyno::threads_worker
