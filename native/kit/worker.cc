#include "kit/worker.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <future>
#include <thread>
#include <utility>

#include "kit/address.h"
#include "kit/machine.h"
#include "kit/system.h"

namespace netdyno {

namespace {

/// How long an end may take to close after stdin ended. The contract gives the whole
/// worker 2 s.
constexpr auto kGrace = std::chrono::seconds(1);

}  // namespace

std::int64_t Transport::shards(const contract::Setup& setup) const { return effective_threads(setup); }

int converse(const WorkerInfo& info, const std::vector<Transport*>& transports, int in, int out) {
  // The reader may outlive this call, because it cannot be woken while it waits for a
  // line. So it shares ownership of what it uses.
  const auto inbox = std::make_shared<Inbox>();
  const auto over = std::make_shared<std::promise<void>>();
  std::thread([inbox, in, done = over->get_future().share()] {
    name_thread("control");
    inbox->read_lines(in);
    // A worker whose setup or library hangs must not outlive its bench.
    if (done.wait_for(kGrace) != std::future_status::ready) _exit(0);
  }).detach();
  int status = 0;
  {
    Machine machine(info, transports, *inbox, out);
    status = machine.loop();
  }
  over->set_value();
  return status;
}

int run_worker(const WorkerInfo& info, const std::vector<Transport*>& transports) {
  std::signal(SIGPIPE, SIG_IGN);  // a lost peer or bench is an error code, no reason to die
  raise_descriptors();
  const int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return converse(info, transports, STDIN_FILENO, out);
}

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
