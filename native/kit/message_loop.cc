#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kit/message_ends.h"
#include "kit/path.h"
#include "kit/system.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// How often a busy loop looks whether the other ends are there. One that waits is
/// woken.
constexpr std::int64_t kWatchNs = 20'000'000;

/// After so many turns without anything, a loop that polls lets others have its CPU:
/// where there are more such loops than CPUs, one would hold up the other's messages.
constexpr std::int64_t kBusyTurns = 200;

/// A loop that polls, and in which nothing waits for an instant, reads the clock once in so
/// many turns: reading it takes as long as looking for a message.
constexpr std::int64_t kClockTurns = 64;

/// So many messages of one connection go in a turn at most, so that the library moves
/// them and the others get theirs.
constexpr std::size_t kMaxBurst = 64;

/// No wait is longer, should nothing wake the loop.
constexpr std::int64_t kMaxWaitNs = 1'000'000'000;

/// Messages of a burst that are sent at one instant, by the clock: the last of them
/// a microsecond later.
constexpr std::size_t kSharedInstant = 8;

/// Tells a flow of a message. One that compares needs the bytes in its own buffer.
void receive(Flow& flow, std::span<const char> message, std::size_t times, std::int64_t now) {
  if (flow.drops()) return flow.received(message.size() * times, now);
  while (!message.empty()) {
    const auto buffer = flow.read_buffer();
    if (buffer.empty() || times > 1)
      throw Failure(ErrorKind::invalid, "receive: more bytes than were asked for");
    const std::size_t n = std::min(message.size(), buffer.size());
    std::memcpy(buffer.data(), message.data(), n);
    flow.received(n, now);
    message = message.subspan(n);
  }
}

}  // namespace

MessageLoop::~MessageLoop() {
  for (Link& link : links_) link.channel.reset();  // before the engine
}

std::size_t MessageLoop::open(Descriptor control, std::uint32_t number) {
  Link link;
  const std::string own = boot_id();
  link.same_host = exchange_addresses(control.get(), own) == own && !own.empty();
  link.channel = engine_->open(control.get(), number);
  link.channel->index = links_.size();
  watch_.add(control.get(), links_.size());
  link.control = std::move(control);
  links_.push_back(std::move(link));
  open_++;
  return links_.size() - 1;
}

void MessageLoop::carry(std::size_t connection, std::unique_ptr<Flow> flow, bool active) {
  Link& link = links_[connection];
  link.flow = std::move(flow);
  link.begun = false;
  link.active = active;
  if (active) active_++;
}

void MessageLoop::begin(std::size_t connection) {
  Link& link = links_[connection];
  if (!link.flow || std::exchange(link.begun, true)) return;
  link.flow->begin(now_ns());
  look(connection);
}

void MessageLoop::run() {
  for (std::size_t connection = 0; connection < links_.size(); connection++) begin(connection);
  while (agenda_.held() > 0 && !stopped_.load(std::memory_order_relaxed)) {
    if (!turn()) wait(agenda_.next_due());
  }
}

/// What a flow is told of when it sends or receives. A server's flow does not look at
/// it, and reading the clock takes as long as a small message.
std::int64_t MessageLoop::instant() const { return role_ == contract::Role::client ? now_ns() : 0; }

bool MessageLoop::turn() {
  bool seen = false;
  if (!polls_ || agenda_.next_due() != Agenda::kNever || turns_++ % kClockTurns == 0) {
    const std::int64_t now = now_ns();
    seen = now - watched_ns_ >= kWatchNs && watch(now);
    send_due(now);
  }
  const bool sent = pump();
  const bool moved = engine_->progress(*this);
  if (!lost_.empty()) close_lost();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  const bool any = seen || sent || moved;
  idle_turns_ = any ? 0 : idle_turns_ + 1;
  return any;
}

void MessageLoop::wait(std::int64_t until_ns) {
  if (polls_ && open_connections() > 0) {  // without the clock, which takes as long as a look
    if (idle_turns_ > kBusyTurns) sched_yield();
    return;
  }
  const std::int64_t now = now_ns();
  const std::int64_t until = std::min(until_ns, now + kMaxWaitNs);
  if (!polls_) {
    engine_->wait(until, watch_.descriptor());
  } else {  // there is nothing to poll
    pollfd wake{watch_.descriptor(), POLLIN, 0};
    poll(&wake, 1, static_cast<int>(std::max<std::int64_t>(0, until - now) / 1'000'000));
  }
  watched_ns_ = 0;  // what woke it may be a control socket
}

void MessageLoop::send_due(std::int64_t now) {
  const std::int64_t closing = closing_.load(std::memory_order_relaxed);
  if (closing != Agenda::kNever && !std::exchange(ended_, true)) agenda_.end(closing);
  while (agenda_.next_due() <= now) {
    const Agenda::Entry entry = agenda_.take();
    links_[entry.connection].flow->send(entry.slot);
    look(entry.connection);
  }
}

/// Notes a connection that has something to send.
void MessageLoop::look(std::size_t connection) {
  Link& link = links_[connection];
  if (!link.waits && link.flow->unsent()) {
    link.waits = true;
    waiting_.push_back(connection);
  }
}

/// Hands over what flows have to send. True when anything was.
bool MessageLoop::pump() {
  bool sent = false;
  std::erase_if(waiting_, [&](std::size_t connection) {
    Link& link = links_[connection];
    if (pump(link)) sent = true;
    link.waits = link.flow && link.flow->unsent();
    return !link.waits;
  });
  return sent;
}

/// Hands over messages of one flow until its channel is full or nothing is left.
bool MessageLoop::pump(Link& link) {
  if (!link.flow || link.channel->full()) return false;
  try {
    if (!link.counts && link.flow->drops()) {
      link.counts = true;
      link.channel->only_count();
    }
    std::size_t read_at = 0;
    std::int64_t now = instant();
    std::size_t burst = 0;
    do {
      if (burst - read_at >= kSharedInstant) {
        now = instant();
        read_at = burst;
      }
      burst += send_some(link, kMaxBurst - burst, now);
    } while (burst < kMaxBurst && link.flow->unsent() && !link.channel->full());
    link.channel->flush();
  } catch (const Failure& failure) {
    if (role_ == contract::Role::client && failure.kind() != ErrorKind::peer) throw;
    lose(link, failure.what());
  }
  return true;
}

/// Hands over the next message, as often as it goes out in a row. Returns how many went.
std::size_t MessageLoop::send_some(Link& link, std::size_t most, std::int64_t now) {
  const auto message = link.flow->outgoing(now);
  const std::size_t alike = link.flow->alike();
  if (alike == 1) {
    link.flow->written(message.size());  // first: who has the answer finds it counted
    link.channel->send(message);
    return 1;
  }
  const std::size_t times = std::min({alike, most, link.channel->room()});
  link.flow->written(message.size() * times);
  link.channel->send(message, times);
  return times;
}

std::size_t MessageLoop::arrived(MessageChannel& channel, std::span<const char> message,
                                 std::size_t times) noexcept {
  Link& link = links_[channel.index];
  if (!link.flow || failure_) return 0;
  try {
    receive(*link.flow, message, times, instant());
    look(channel.index);
    return static_cast<std::size_t>(link.flow->missing());
  } catch (const Failure& failure) {
    if (role_ == contract::Role::client) {
      failure_ = std::current_exception();
    } else {
      lose(link, failure.what());
    }
  }
  return 0;
}

void MessageLoop::lost(MessageChannel& channel, const std::string& text) noexcept {
  lose(links_[channel.index], text);
}

void MessageLoop::lose(Link& link, const std::string& text) {
  if (!link.lost.empty()) return;
  link.lost = text.empty() ? "lost" : text;
  lost_.push_back(link.channel->index);
  open_--;
  if (link.active) active_--;
  if (!link.flow) return;
  if (link.begun) link.flow->abandon(ErrorKind::peer, now_ns());
  link.flow.reset();
}

/// Looks whether the other ends' control sockets are still open.
bool MessageLoop::watch(std::int64_t now) {
  watched_ns_ = now;
  bool found = false;
  for (const std::size_t connection : watch_.ended()) {
    lose(links_[connection], "the other end closed the connection's control socket");
    found = true;
  }
  return found;
}

/// Closes what was lost, where no call of the library is under way.
void MessageLoop::close_lost() {
  for (const std::size_t connection : lost_) {
    links_[connection].channel.reset();
    links_[connection].control = Descriptor();
  }
  lost_.clear();
}

void MessageLoop::end(std::int64_t closing) {
  closing_ = closing;
  wake();
}

void MessageLoop::stop() {
  stopped_ = true;
  wake();
}

}  // namespace netdyno
