#include "uring/connection.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace netdyno::uring_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;

namespace {

/// The most that one operation moves: its length has 32 bits.
constexpr std::size_t kMost = 1 << 30;
/// A send is whole or fails.
constexpr int kSendFlags = MSG_WAITALL | MSG_NOSIGNAL;

}  // namespace

Connection::Connection(Loop& loop, LoopObserver& observer, Role role, Descriptor socket,
                       std::unique_ptr<Flow> flow)
    : loop_(loop), observer_(observer), role_(role), socket_(std::move(socket)), flow_(std::move(flow)) {
  flow_->belong(this);
}

void Connection::begin() {
  if (socket_.get() >= 0) file_ = loop_.ring.keep(socket_.get());
  const std::int64_t at = now();
  flow_->begin(at);
  move(at);
}

void Connection::send(std::uint32_t slot) {
  flow_->send(slot);
  move(now());
}

void Connection::rested() {
  guard([this] { move(now()); });
}

void Connection::cancel() {
  if (in_.under_way) loop_.ring.cancel(*this, Op::receive);
  if (out_.state != State::nothing) {
    loop_.ring.cancel(*this, out_.state == State::alone ? Op::send : Op::linked_send);
  }
}

void Connection::completed(const Completion& completion) {
  guard([&] {
    if (completion.op == Op::receive) return received(completion);
    completion.op == Op::send ? sent(completion) : unlinked(completion.result);
  });
}

/// A failure of a client's flow ends the trial. A failure of a server's flow ends only
/// that connection.
template <class Step>
void Connection::guard(Step step) {
  try {
    step();
  } catch (const Failure&) {
    if (role_ == Role::client) throw;
    lose();
  }
}

std::int64_t Connection::now() const { return role_ == Role::client ? now_ns() : 0; }

/// Submits every operation that may be pending and is not.
void Connection::move(std::int64_t at) {
  if (lost_ || parting_) return;
  if (socket_.get() < 0) {
    if (flow_->unsent()) reopen(at);
    return;
  }
  if (concluded()) return;
  if (out_.state == State::nothing && flow_->unsent()) start_send(at);
  if (in_.under_way) return;
  if (!may_receive()) return;
  if (const auto buffer = flow_->read_buffer(); !buffer.empty()) receive(buffer);
}

/// Ends the connection if its flow says so. A server's waits for the reply that is being
/// sent.
bool Connection::concluded() {
  switch (flow_->fate()) {
    case Flow::Fate::open:
      return false;
    case Flow::Fate::over:
      if (role_ == Role::client) {
        parting_ = true;
        ::shutdown(socket_.get(), SHUT_RDWR);  // ends what is under way
        settle();
        return true;
      }
      if (out_.state != State::nothing || flow_->unsent()) return false;
      [[fallthrough]];
    case Flow::Fate::lost:
      lose();
  }
  return true;
}

void Connection::start_send(std::int64_t at) {
  const auto bytes = flow_->outgoing(at);
  if (bytes.empty()) return;
  out_.bytes = bytes.first(std::min(bytes.size(), kMost));
  flow_->written(out_.bytes.size());
  const bool linked = !in_.under_way && !flow_->lasting() && !flow_->read_buffer().empty();
  linked ? send_linked() : send_alone();
}

void Connection::send_alone() {
  out_.state = State::alone;
  io_uring_sqe* const submission = loop_.ring.prepare();
  io_uring_prep_send(submission, 0, out_.bytes.data(), out_.bytes.size(), kSendFlags);
  loop_.ring.submit(submission, file_, *this, Op::send);
}

/// The kernel fills the flow's buffer after it has sent the bytes in it.
void Connection::send_linked() {
  out_.state = State::linked;
  loop_.ring.reserve(2);
  io_uring_sqe* const submission = loop_.ring.prepare();
  io_uring_prep_send(submission, 0, out_.bytes.data(), out_.bytes.size(), kSendFlags);
  loop_.ring.submit(submission, file_, *this, Op::linked_send, IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS);
  receive(flow_->read_buffer());
}

void Connection::sent(const Completion& completion) {
  if (lost_ || parting_ || completion.result <= 0) {
    out_.state = State::nothing;
    return lost_ || parting_ ? settle() : broke(completion.result);
  }
  goes();
  out_.bytes = out_.bytes.subspan(static_cast<std::size_t>(completion.result));
  if (!out_.bytes.empty()) return send_alone();
  out_.state = State::nothing;
  move(now());
}

/// A linked send failed, or took only a part. The receive after it never began.
void Connection::unlinked(int result) {
  out_.state = State::nothing;
  in_.under_way = false;
  if (lost_ || parting_) return settle();
  if (result <= 0) return broke(result);
  out_.bytes = out_.bytes.subspan(static_cast<std::size_t>(result));
  send_linked();
}

void Connection::receive(std::span<char> buffer) {
  in_.under_way = true;
  io_uring_sqe* const submission = loop_.ring.prepare();
  io_uring_prep_recv(submission, 0, buffer.data(), std::min(buffer.size(), kMost), 0);
  // If nothing has arrived yet, trying to receive at once would be in vain.
  if (!in_.more_here) submission->ioprio |= IORING_RECVSEND_POLL_FIRST;
  loop_.ring.submit(submission, file_, *this, Op::receive);
}

void Connection::received(const Completion& completion) {
  if (out_.state == State::linked) out_.state = State::nothing;
  in_.under_way = false;
  if (lost_ || parting_) return settle();
  if (completion.result <= 0) return broke(completion.result);
  in_.more_here = (completion.flags & IORING_CQE_F_SOCK_NONEMPTY) != 0;
  goes();
  const std::int64_t at = now();
  flow_->received(static_cast<std::size_t>(completion.result), at);
  move(at);
}

/// The peer ended or broke the connection, as the result of an operation says.
void Connection::broke(int result) {
  flow_->broke(result == -ECANCELED ? 0 : -result);
  if (flow_->ended(now()) && concluded()) return;
  lose();
}

void Connection::lose() {
  lost_ = true;
  if (socket_.get() >= 0) ::shutdown(socket_.get(), SHUT_RDWR);  // ends what is under way
  flow_->abandon(ErrorKind::peer, now());
  observer_.lost(*this);
  settle();
}

/// Closes a connection that is lost or over once none of its operations is pending. Its
/// file must stay registered until then: another connection would take its slot, and with
/// it the operations.
void Connection::settle() {
  if (!(lost_ || parting_) || out_.state != State::nothing || in_.under_way) return;
  if (socket_.get() >= 0) {
    loop_.ring.forget(file_);
    socket_ = Descriptor();
  }
  if (lost_) return observer_.released(*this);
  parting_ = false;
  if (flow_->unsent()) reopen(now());
}

/// Connects again. Connections that are made in mid-load are not registered with the ring,
/// which would be another system call for each.
void Connection::reopen(std::int64_t at) {
  flow_->reopened(at);
  socket_ = observer_.redial(*this);
  if (socket_.get() < 0) return lose();
  file_ = File{socket_.get(), -1};
  in_.more_here = made_ = false;
  move(at);
}

}  // namespace netdyno::uring_worker
