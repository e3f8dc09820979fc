#include "kit/inbox.h"

#include <chrono>
#include <utility>

#include "kit/clock.h"

namespace netdyno {

void Inbox::put(Event event) {
  const bool line =
      std::holds_alternative<contract::Message>(event) || std::holds_alternative<BadLine>(event);
  std::unique_lock lock(mutex_);
  if (line) changed_.wait(lock, [this] { return closed_ || events_.size() < kMaxWaiting; });
  if (closed_) return;
  events_.push_back(std::move(event));
  changed_.notify_all();
}

std::optional<Event> Inbox::take(std::int64_t until_ns) {
  std::unique_lock lock(mutex_);
  while (events_.empty()) {
    const std::int64_t left = until_ns - now_ns();
    if (left <= 0) return std::nullopt;
    changed_.wait_for(lock, std::chrono::nanoseconds(left));
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  changed_.notify_all();
  return event;
}

void Inbox::read_lines(int in) {
  contract::LineReader reader(in);
  for (;;) {
    try {
      const auto line = reader.read();
      if (!line) break;
      put(contract::parse(*line));
    } catch (const contract::LineError& error) {
      put(BadLine{error.what()});
    }
  }
  put(EndOfInput{});
}

void Inbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  events_.clear();
  changed_.notify_all();
}

}  // namespace netdyno
