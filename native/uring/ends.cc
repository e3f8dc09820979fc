#include "uring/ends.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "kit/system.h"

namespace netdyno::uring_worker {

void UringClientLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  LoopObserver& observer = *this;
  connections_.push_back(
      std::make_unique<Connection>(loop_, observer, contract::Role::client, Descriptor(fd), std::move(flow)));
  connections_.back()->index = connections_.size() - 1;
  opened(active);
}

void UringClientLoop::run() {
  loop_.ring.run([this] { turns(); },
                 [this] {
                   loop_.alarm.cancel();
                   for (const auto& connection : connections_) connection->cancel();
                 });
}

void UringClientLoop::turns() {
  loop_.waker.arm();
  for (const auto& connection : connections_) connection->begin();
  while (agenda().held() > 0 && !stopped()) {
    wait();
    heed();
    send_due([this](std::size_t connection, std::uint32_t slot) { connections_[connection]->send(slot); });
  }
}

/// Waits for events, and passes them on.
void UringClientLoop::wait() {
  if (pace().looks_again(now_ns())) {
    if (loop_.look()) pace().stirred(now_ns());
    return;
  }
  loop_.turn(pace().sleeps_until());
  pace().stirred(now_ns());
}

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
  if (!completion.more()) retry_at_ = now_ns() + kAcceptPauseNs;
}

void UringServerLoop::listen(int listener, std::function<void(int fd)> admit) {
  acceptors_.push_back(
      std::make_unique<Acceptor>(loop_.ring, Descriptor(listener), std::move(admit), refused));
}

void UringServerLoop::run() {
  loop_.ring.run([this] { turns(); },
                 [this] {
                   loop_.alarm.cancel();
                   for (const auto& connection : connections_) connection->cancel();
                 });
}

void UringServerLoop::turns() {
  loop_.waker.arm();
  for (const auto& acceptor : acceptors_) acceptor->accept();
  while (!stopped()) {
    loop_.turn(std::min(retry(), traffic.rests.next()));
    wake_rested([](void* connection) { static_cast<Connection*>(connection)->rested(); });
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
  LoopObserver& observer = *this;
  for (Newcomer& newcomer : newcomers()) {
    keep(connections_, std::make_unique<Connection>(loop_, observer, contract::Role::server,
                                                    std::move(newcomer.socket), std::move(newcomer.flow)))
        .begin();
  }
}

}  // namespace netdyno::uring_worker
