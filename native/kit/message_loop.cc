#include "kit/message_loop.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kit/clock.h"
#include "kit/path.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// How often the control sockets are asked whether the other end is there.
constexpr std::int64_t kWatchNs = 20'000'000;

}  // namespace

MessageLoop::~MessageLoop() {
  for (Link& link : links_) link.channel.reset();  // while the flows' bytes are still there
}

std::size_t MessageLoop::open(Descriptor control, std::uint32_t number) {
  Link link;
  const std::string own = boot_id();
  link.same_host = exchange_addresses(control.get(), own) == own && !own.empty();
  link.channel = engine_->open(control.get(), number);
  link.channel->index = links_.size();
  link.control = std::move(control);
  links_.push_back(std::move(link));
  open_++;
  return links_.size() - 1;
}

void MessageLoop::carry(std::size_t connection, std::unique_ptr<Flow> flow, bool active, bool begin) {
  Link& link = links_[connection];
  link.flow = std::move(flow);
  if (active) active_++;
  link.active = active;
  if (!begin) return;
  link.flow->begin(now_ns());
  pump(link);
}

void MessageLoop::run() {
  for (Link& link : links_) {
    if (!link.flow) continue;
    link.flow->begin(now_ns());
    pump(link);
  }
  while (agenda_.held() > 0 && !stopped()) {
    if (!turn()) engine_->wait(latest_wake(now_ns()));
  }
}

bool MessageLoop::turn() {
  const std::int64_t now = now_ns();
  const std::int64_t closing = closing_.load(std::memory_order_relaxed);
  if (closing != Agenda::kNever && !std::exchange(ended_, true)) agenda_.end(closing);
  bool moved = watch(now);
  while (agenda_.next_due() <= now) {
    const Agenda::Entry entry = agenda_.take();
    Link& due = links_[entry.connection];
    due.flow->send(entry.slot);
    pump(due);
    moved = true;
  }
  if (engine_->progress(*this)) moved = true;
  for (Link& link : links_) pump(link);
  return moved;
}

/// When a waiting loop has to look again: at the next due exchange, at the next watch.
std::int64_t MessageLoop::latest_wake(std::int64_t now) const {
  return std::min(agenda_.next_due(), now + kWatchNs);
}

/// Hands over messages until the channel is full or nothing is left.
void MessageLoop::pump(Link& link) {
  if (!link.flow || !link.flow->unsent() || link.channel->full()) return;
  try {
    do {
      const auto message = link.flow->outgoing(now_ns());
      link.channel->send(message);
      link.flow->written(message.size());
    } while (link.flow->unsent() && !link.channel->full());
    link.channel->flush();
  } catch (const Failure& failure) {
    if (failure.kind() != ErrorKind::peer) throw;
    lose(link, failure.what());
  }
}

void MessageLoop::arrived(MessageChannel& channel, std::span<const char> message) {
  Link& at = links_[channel.index];
  if (!at.flow) return;
  const std::int64_t now = now_ns();
  try {
    while (!message.empty()) {
      std::size_t n = message.size();
      if (!at.flow->drops()) {  // it compares, so that it needs the bytes in its own buffer
        const auto room = at.flow->read_buffer();
        n = std::min(n, room.size());
        std::memcpy(room.data(), message.data(), n);
      }
      at.flow->received(n, now);
      message = message.subspan(n);
    }
  } catch (const Failure& failure) {
    if (role_ == contract::Role::client) throw;
    lose(at, failure.what());
  }
}

void MessageLoop::lost(MessageChannel& channel, const std::string& text) {
  lose(links_[channel.index], text);
}

void MessageLoop::lose(Link& link, const std::string& text) {
  if (!link.lost.empty()) return;
  link.lost = text.empty() ? "lost" : text;
  open_--;
  if (link.active) active_--;
  if (!link.flow) return;
  link.flow->abandon(ErrorKind::peer, now_ns());
  link.flow.reset();
}

/// Looks from time to time whether the other ends' control sockets are still open.
bool MessageLoop::watch(std::int64_t now) {
  if (now - watched_ns_ < kWatchNs) return false;
  watched_ns_ = now;
  bool found = false;
  for (Link& link : links_) {
    if (!link.lost.empty()) continue;
    pollfd ask{link.control.get(), POLLRDHUP, 0};
    if (poll(&ask, 1, 0) <= 0 || (ask.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) continue;
    lose(link, "the other end closed the connection's control socket");
    found = true;
  }
  return found;
}

}  // namespace netdyno
