#include "kit/replay.h"

#include <algorithm>
#include <utility>

#include "kit/places.h"

namespace netdyno {

namespace {

constexpr std::size_t kBlockOfDues = 1024;
constexpr std::size_t kBlocksAhead = 64;

}  // namespace

Replay::Walk::Walk(const Replay& of)
    : of_(of), reader_(*of.draws_.recording(), of.trace_.from_ns), offset_(-of.trace_.from_ns) {}

Due Replay::Walk::next() {
  const Recording& recording = *of_.draws_.recording();
  for (;;) {
    const std::optional<Recorded> request = reader_.next();
    if (!request) {
      // The next round begins a mean gap after the last request.
      const std::int64_t gap = recording.span_ns() / std::max<std::int64_t>(1, recording.requests() - 1);
      offset_ += recording.span_ns() + std::max<std::int64_t>(1, gap);
      reader_ = RecordingReader(recording, 0);
      continue;
    }
    const std::int64_t number = number_++;
    if (number % of_.trace_.parts != of_.trace_.part) continue;
    const double at = static_cast<double>(request->at_ns + offset_) / of_.trace_.speed;
    return {static_cast<std::int64_t>(std::min(at, static_cast<double>(kNeverDue))),
            of_.draws_.times() ? Draw{} : of_.draws_.of(*request), static_cast<std::uint64_t>(number)};
  }
}

void Replay::begin() {
  over_ = false;
  thread_ = std::thread([this] {
    name_thread("replay");
    read();
  });
}

/// Reads ahead until the load has ended, or the file cannot be read on.
void Replay::read() {
  std::vector<Due> block;
  try {
    for (Walk walk(*this);; block.clear()) {
      while (block.size() < kBlockOfDues) block.push_back(walk.next());
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || ahead_.size() < kBlocksAhead; });
      if (stopped_) return;
      ahead_.push_back(block);
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    if (!block.empty()) ahead_.push_back(std::move(block));
    over_ = true;
    changed_.notify_all();
  }
}

Due Replay::take() {
  std::unique_lock lock(mutex_);
  while (next_ == block_.size()) {
    if (!ahead_.empty()) {
      block_ = std::move(ahead_.front());
      ahead_.pop_front();
      next_ = 0;
      changed_.notify_all();
    } else if (over_) {
      return {kNeverDue};
    } else {
      changed_.wait(lock);
    }
  }
  return block_[next_++];
}

void Replay::end() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = over_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Replay::finish() {
  end();
  if (!failure_) return;
  try {
    std::rethrow_exception(failure_);
  } catch (const contract::Failure& failure) {
    throw contract::Failure(contract::ErrorKind::invalid, failure.what());
  }
}

double Replay::due_in(Span window) const {
  double n = 0;
  Walk walk(*this);
  for (std::int64_t last = 0; last < window.to;) {
    const std::int64_t at = walk.next().at_ns;
    n += window.share(last, at);
    last = at;
  }
  return n;
}

}  // namespace netdyno
