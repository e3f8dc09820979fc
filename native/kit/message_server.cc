#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "kit/address.h"
#include "kit/clock.h"
#include "kit/message_ends.h"
#include "kit/message_wire_up.h"
#include "kit/threads.h"

namespace netdyno {

using contract::ErrorKind;

namespace {

/// A flow's buffer, in which the verified exchange is compared piece by piece.
constexpr std::size_t kCompareBuffer = 64 << 10;
/// How long an idle loop waits at a time; a client that comes in wakes it.
constexpr std::int64_t kRestNs = 100'000'000;

}  // namespace

MessageServer::MessageServer(const contract::Setup& setup, const MakeEngine& make,
                             const MessageDemands& demands)
    : setup_(as_messages(setup)), work_(Work::of_messages(setup_)), door_(setup_) {
  const MessageTerms terms{setup_, longest_message(setup_), door_.host()};
  const int count = std::min(effective_threads(setup_), demands.max_loops);
  for (int i = 0; i < count; i++) {
    Serving& serving = *servings_.emplace_back(std::make_unique<Serving>());
    serving.loop = std::make_unique<MessageLoop>(contract::Role::server, make(terms));
  }
  for (int i = 0; i < count; i++) {
    Serving& serving = *servings_[static_cast<std::size_t>(i)];
    serving.thread = std::thread([this, &serving, i] {
      name_thread("loop " + std::to_string(i));
      serve(serving);
    });
  }
  door_.open([this](Descriptor control, std::uint32_t number) { admit(std::move(control), number); });
}

MessageServer::~MessageServer() {
  door_.close();
  stopped_ = true;
  for (const auto& serving : servings_) serving->loop->wake();
  for (const auto& serving : servings_) serving->thread.join();
}

void MessageServer::admit(Descriptor control, std::uint32_t number) {
  Serving& serving = *servings_[number % servings_.size()];
  const std::lock_guard lock(serving.mutex);
  serving.arrivals.emplace_back(std::move(control), number);
  serving.asked = true;
  serving.loop->wake();
}

void MessageServer::serve(Serving& serving) {
  while (!stopped_.load(std::memory_order_relaxed)) {
    if (serving.asked.load(std::memory_order_relaxed)) take_in(serving);
    if (!serving.loop->turn()) serving.loop->wait(now_ns() + kRestNs);
  }
}

/// Opens the connections of those who came in meanwhile. It holds up the loop until the
/// client's library has said its part, which it does at once, or its time is over.
void MessageServer::take_in(Serving& serving) {
  std::vector<std::pair<Descriptor, std::uint32_t>> arrivals;
  {
    const std::lock_guard lock(serving.mutex);
    arrivals.swap(serving.arrivals);
    serving.asked = false;
  }
  MessageLoop& loop = *serving.loop;
  for (auto& [control, number] : arrivals) {
    try {
      const std::size_t connection = loop.open(std::move(control), number);
      loop.carry(connection, work_->server(kCompareBuffer, serving.traffic), false);
      loop.begin(connection);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "open connection %u: %s\n", number, failure.what());
    }
  }
}

contract::Ready MessageServer::ready() const {
  contract::Ready ready;
  ready.addresses = door_.addresses();
  ready.threads = static_cast<std::int64_t>(servings_.size());
  ready.path.emplace();  // of each connection, its client tells
  ready.options = setup_.options;
  ready.polls = servings_[0]->loop->engine().polls();
  return ready;
}

contract::Counts MessageServer::counts() const {
  contract::Counts counts;
  for (const auto& serving : servings_) {
    const Traffic& traffic = serving->traffic;
    counts.exchanges += traffic.exchanges.get();
    counts.received_bytes += traffic.received.get();
    counts.sent_bytes += traffic.sent.get();
    counts.connections += traffic.connections.get();
    counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] += traffic.invalid.get();
  }
  counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] += door_.strangers();
  counts.errors[static_cast<std::size_t>(ErrorKind::setup)] += door_.refused();
  return counts;
}

}  // namespace netdyno
