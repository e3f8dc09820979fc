#include "kit/message_ends.h"

#include <algorithm>
#include <cstdio>

#include "kit/address.h"
#include "kit/numa.h"
#include "kit/path.h"
#include "kit/staging.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// How long nothing may move before a connection has made its verified exchange.
constexpr std::int64_t kVerifyNs = 10'000'000'000;
/// How long an idle loop waits before it looks whether connecting was cancelled.
constexpr std::int64_t kIdleNs = 20'000'000;

/// Exchanges are watched in rounds of at least so many bytes or so many exchanges, until
/// two rounds in a row tell the same.
constexpr std::int64_t kRoundBytes = 16 << 10;
constexpr std::int64_t kRoundExchanges = 16;
constexpr int kMaxRounds = 16;

}  // namespace

contract::Transport message_transport(const std::string& name, const std::string& doc) {
  contract::Transport transport;
  transport.name = transport.wire = name;
  transport.doc = doc;
  transport.roles = {contract::Role::server, contract::Role::client};
  transport.delivery = "chunks";
  transport.features = {"stream-up", "stream-down", "stream-both"};
  return transport;
}

MessageClient::MessageClient(const contract::Setup& setup, Load& load, const MakeEngine& make,
                             MessageDemands demands)
    : setup_(as_messages(setup)),
      load_(load),
      demands_(std::move(demands)),
      work_(Work::of_messages(setup_)),
      loops_(load) {
  require_descriptors(setup_.load.connections);
  const MessageTerms terms{setup_, longest_message(setup_), own_host(setup_)};
  const int count = std::min(load.shards(), demands_.max_loops);
  for (int i = 0; i < count; i++) {
    loops_.add(std::make_unique<MessageLoop>(contract::Role::client, in_memory(make, terms)));
  }
  run_all(
      loops_.size(), [this](std::size_t loop) { connect(loop); }, [this] { cancelled_ = true; });
  demand(path_);
}

/// Opens and verifies the connections of one loop: those of its shards.
void MessageClient::connect(std::size_t at) {
  MessageLoop& loop = loops_[at];
  const std::int64_t shards = load_.shards();
  const auto loops = static_cast<std::int64_t>(loops_.size());
  for (std::int64_t number = 0; number < setup_.load.connections && !cancelled_; number++) {
    if (number % shards % loops != static_cast<std::int64_t>(at)) continue;
    const std::size_t connection =
        loop.open(dial_control(setup_, number), static_cast<std::uint32_t>(number));
    verify(loop, connection, number);
    if (number == 0) path_ = find_path(loop, connection);
    const auto slots = load_.slots(number);
    loop.carry(connection,
               work_->client({number, static_cast<std::uint32_t>(connection), slots, loop.agenda()}),
               !slots.empty());
  }
}

/// Makes one exchange and compares what comes back.
void MessageClient::verify(MessageLoop& loop, std::size_t connection, std::int64_t number) {
  try {
    exchange_once(loop, connection, number);
  } catch (const Failure& failure) {
    throw Failure(failure.kind(), "verify connection " + std::to_string(number + 1) + " of " +
                                      std::to_string(setup_.load.connections) + ": " + failure.what());
  }
}

void MessageClient::exchange_once(MessageLoop& loop, std::size_t connection, std::int64_t number) {
  auto flow = work_->verification(number);
  const Work::Verification& exchange = *flow;
  loop.carry(connection, std::move(flow), false);
  loop.begin(connection);
  std::int64_t deadline = now_ns() + kVerifyNs;
  while (loop.lost_because(connection).empty() && !exchange.verified()) {
    if (cancelled_) throw Failure(ErrorKind::setup, "connecting was cancelled");
    if (loop.turn()) {
      deadline = now_ns() + kVerifyNs;
      continue;
    }
    loop.wait(now_ns() + kIdleNs);
    if (now_ns() < deadline) continue;
    throw Failure(ErrorKind::timeout, std::to_string(exchange.arrived()) + " of " +
                                          std::to_string(setup_.exchange.down_bytes) +
                                          " bytes came back, and nothing moved for " +
                                          std::to_string(kVerifyNs / 1'000'000'000) + " s");
  }
  if (loop.lost_because(connection).empty()) return;
  throw Failure(ErrorKind::peer, loop.lost_because(connection));
}

/// Makes more exchanges until the counters tell what way they take. The first ones can
/// mislead: libraries find their way only once messages flow.
contract::Path MessageClient::find_path(MessageLoop& loop, std::size_t connection) {
  std::string before = watch_path(loop, connection);
  for (int round = 1; round < kMaxRounds; round++) {
    std::string over = watch_path(loop, connection);
    if (over == before) return {std::move(over), loop.engine().path(loop.channel(connection))};
    before = std::move(over);
  }
  throw Failure(ErrorKind::setup, "find the messages' way: it changed in each of " +
                                      std::to_string(kMaxRounds) + " rounds, last to " + before);
}

/// Makes exchanges and sees whose counters they move.
std::string MessageClient::watch_path(MessageLoop& loop, std::size_t connection) {
  const std::int64_t exchange = setup_.exchange.up_bytes + setup_.exchange.down_bytes;
  const std::int64_t count = std::clamp<std::int64_t>(kRoundBytes / exchange, 1, kRoundExchanges);
  const std::set<int> without = {loop.control(connection)};
  const PathCounters before = read_path(without);
  for (std::int64_t i = 0; i < count; i++) verify(loop, connection, 0);
  std::string over = path_over(before, read_path(without), count * exchange);
  if (over.empty()) over = loop.same_host(connection) ? demands_.unseen : "unknown";
  return over;
}

/// Fails a trial whose messages take another way than it asks for.
void MessageClient::demand(const contract::Path& path) const {
  if (demands_.over.empty() || demands_.over == path.over) return;
  throw Failure(ErrorKind::setup, "the messages went over " + path.over +
                                      (path.by.empty() ? "" : " (" + path.by + ")") + ", expected " +
                                      demands_.over);
}

contract::Ready MessageClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = setup_.load.connections;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  ready.nodes = Nodes::here().of_loops(loops_.size());
  ready.options = setup_.options;
  ready.path = path_;
  ready.polls = loops_[0].engine().polls();
  return ready;
}

namespace {

/// A flow's buffer, in which the verified exchange is compared piece by piece.
constexpr std::size_t kCompareBuffer = 64 << 10;

}  // namespace

MessageServer::MessageServer(const contract::Setup& setup, const MakeEngine& make,
                             const MessageDemands& demands)
    : setup_(as_messages(setup)), work_(Work::of_messages(setup_)), door_(setup_) {
  const MessageTerms terms{setup_, longest_message(setup_), door_.host()};
  const int count = std::min(effective_threads(setup_), demands.max_loops);
  for (int i = 0; i < count; i++) {
    Serving& serving = *servings_.emplace_back(std::make_unique<Serving>());
    serving.loop = std::make_unique<MessageLoop>(contract::Role::server, in_memory(make, terms));
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
    if (!serving.loop->turn()) serving.loop->wait(Agenda::kNever);  // who comes in wakes it
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
  ready.nodes = Nodes::here().of_loops(servings_.size());
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
  door_.allowed().add_to(counts);
  return counts;
}

}  // namespace netdyno
