#include "uring/server.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "kit/clock.h"

namespace netdyno::uring_worker {

namespace {

/// How long an acceptor waits after a failure, in ns.
constexpr std::int64_t kPause = 10'000'000;

}  // namespace

Acceptor::Acceptor(Ring& ring, Descriptor listener, std::function<void(int fd)> admit,
                   std::atomic<std::int64_t>& refused)
    : ring_(ring), listener_(std::move(listener)), admit_(std::move(admit)), refused_(refused) {
  // A ring would not wait for a non-blocking listener.
  const int flags = fcntl(listener_.get(), F_GETFL);
  fcntl(listener_.get(), F_SETFL, flags & ~O_NONBLOCK);
}

void Acceptor::accept() {
  retry_at_ = Ring::kNever;
  io_uring_sqe* const submission = ring_.prepare();
  io_uring_prep_multishot_accept(submission, listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  ring_.submit(submission, *this, Op::accept);
}

void Acceptor::completed(const Completion& completion) {
  if (completion.result >= 0) {
    if (!completion.more()) accept();
    return admit_(completion.result);
  }
  refused_++;
  if (!completion.more()) retry_at_ = now_ns() + kPause;
}

void UringServerLoop::listen(int listener, std::function<void(int fd)> admit) {
  acceptors_.push_back(
      std::make_unique<Acceptor>(loop_.ring, Descriptor(listener), std::move(admit), refused));
}

void UringServerLoop::adopt(int fd, std::unique_ptr<Flow> flow) {
  LoopObserver& observer = *this;
  auto newcomer =
      std::make_unique<Connection>(loop_, observer, contract::Role::server, Descriptor(fd), std::move(flow));
  {
    const std::lock_guard lock(mutex_);
    newcomers_.push_back(std::move(newcomer));
  }
  loop_.waker.wake();
}

void UringServerLoop::run() {
  loop_.ring.run([this] { turns(); },
                 [this] {
                   loop_.alarm.cancel();
                   for (const auto& connection : connections_) connection->cancel();
                 });
}

void UringServerLoop::stop() {
  stopped_ = true;
  loop_.waker.wake();
}

void UringServerLoop::turns() {
  loop_.waker.arm();
  for (const auto& acceptor : acceptors_) acceptor->accept();
  while (!stopped_.load(std::memory_order_relaxed)) {
    loop_.turn(retry());
    if (loop_.waker.woken()) take_in();
  }
}

/// Accepts again where that is due. Returns when the next one is due.
std::int64_t UringServerLoop::retry() {
  std::int64_t next = Ring::kNever;
  for (const auto& acceptor : acceptors_) {
    if (acceptor->retry_at() == Ring::kNever) continue;
    if (acceptor->retry_at() <= now_ns()) acceptor->accept();
    next = std::min(next, acceptor->retry_at());
  }
  return next;
}

void UringServerLoop::take_in() {
  std::vector<std::unique_ptr<Connection>> newcomers;
  {
    const std::lock_guard lock(mutex_);
    newcomers.swap(newcomers_);
  }
  for (auto& newcomer : newcomers) {
    Connection& connection = *connections_.emplace_back(std::move(newcomer));
    connection.index = connections_.size() - 1;
    connection.begin();
  }
}

void UringServerLoop::released(Connection& connection) {
  const std::size_t index = connection.index;
  std::swap(connections_[index], connections_.back());
  connections_[index]->index = index;
  connections_.pop_back();
}

}  // namespace netdyno::uring_worker
