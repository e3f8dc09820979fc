#include "kit/message_ends.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "kit/address.h"
#include "kit/clock.h"
#include "kit/message_wire_up.h"
#include "kit/options.h"
#include "kit/path.h"
#include "kit/stream.h"
#include "kit/threads.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// How long a connection may take to make its verified exchange.
constexpr std::int64_t kVerifyNs = 10'000'000'000;
/// Exchanges that lead a library to the way that it keeps, and those that are counted
/// to find out which it is.
constexpr int kSettling = 4;
constexpr int kWatched = 4;
/// A server's buffer, in which the verified exchange is compared piece by piece.
constexpr std::size_t kCompareBuffer = 64 << 10;
/// How long an idle loop of a server waits before it looks whether it is wanted.
constexpr std::int64_t kIdleNs = 5'000'000;

std::string local_host(int fd) {
  Endpoint own;
  if (getsockname(fd, own.get(), &own.size) != 0) return {};
  return own.address().host;
}

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
  const MessageTerms terms{setup_, longest_message(setup_), {}};
  const int count = std::min(load.shards(), demands_.max_loops);
  for (int i = 0; i < count; i++) {
    loops_.add(std::make_unique<MessageLoop>(contract::Role::client, make(terms)));
  }
  run_all(
      loops_.size(), [&](std::size_t loop) { connect(loop, terms); }, [&] { cancelled_ = true; });
  demand(path_);
}

/// Opens and verifies the connections of one loop: those of its shards.
void MessageClient::connect(std::size_t at, const MessageTerms&) {
  MessageLoop& loop = loops_[at];
  const std::int64_t shards = load_.shards();
  const auto loops = static_cast<std::int64_t>(loops_.size());
  for (std::int64_t number = 0; number < setup_.load.connections && !cancelled_; number++) {
    if (number % shards % loops != static_cast<std::int64_t>(at)) continue;
    Descriptor control = dial_control(setup_, number);
    const int fd = control.get();
    const std::size_t connection = loop.open(std::move(control), static_cast<std::uint32_t>(number));
    verify(loop, connection, number);
    if (number == 0) path_ = find_path(loop, connection, fd);
    const auto slots = load_.slots(number);
    loop.carry(connection, work_->client(static_cast<std::uint32_t>(connection), slots, loop.agenda()),
               !slots.empty(), false);
  }
}

/// Makes one exchange and compares what comes back.
void MessageClient::verify(MessageLoop& loop, std::size_t connection, std::int64_t number) {
  auto flow = work_->verification(number);
  const Work::Verification& exchange = *flow;
  loop.carry(connection, std::move(flow), false, true);
  const std::int64_t deadline = now_ns() + kVerifyNs;
  while (loop.lost_because(connection).empty() && !exchange.verified()) {
    if (cancelled_) throw Failure(ErrorKind::setup, "connecting was cancelled");
    if (!loop.turn()) loop.wait(std::min(deadline, now_ns() + kIdleNs));
    if (now_ns() < deadline) continue;
    throw Failure(ErrorKind::timeout,
                  "verify connection " + std::to_string(number) + ": " + std::to_string(exchange.arrived()) +
                      " of " + std::to_string(setup_.exchange.down_bytes) + " bytes came back in " +
                      std::to_string(kVerifyNs / 1'000'000'000) + " s");
  }
  if (loop.lost_because(connection).empty()) return;
  throw Failure(ErrorKind::peer,
                "verify connection " + std::to_string(number) + ": " + loop.lost_because(connection));
}

/// Makes a few more exchanges and sees whose counters they move.
contract::Path MessageClient::find_path(MessageLoop& loop, std::size_t connection, int control) {
  for (int i = 0; i < kSettling; i++) verify(loop, connection, 0);
  const PathCounters before = read_path({control});
  for (int i = 0; i < kWatched; i++) verify(loop, connection, 0);
  const PathCounters after = read_path({control});
  const std::int64_t payload = kWatched * (setup_.exchange.up_bytes + setup_.exchange.down_bytes);
  const bool same_host = loop.same_host(connection);
  return {path_over(before, after, payload, same_host), loop.engine().path(loop.channel(connection))};
}

/// Fails a trial whose messages take another way than it asks for.
void MessageClient::demand(const contract::Path& path) const {
  if (demands_.over.empty() || demands_.over == path.over) return;
  throw Failure(ErrorKind::setup, "the messages went over " + path.over +
                                      (path.by.empty() ? "" : " (" + path.by + ")") + ", expected " +
                                      demands_.over + "; the library chose it without a word");
}

contract::Ready MessageClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = setup_.load.connections;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  ready.options = setup_.options;
  ready.path = path_;
  ready.polls = loops_[0].engine().polls();
  return ready;
}

MessageServer::MessageServer(const contract::Setup& setup, const MakeEngine& make,
                             const MessageDemands& demands)
    : setup_(as_messages(setup)), allowed_(setup), work_(Work::of_messages(setup_)) {
  const Listening listening = listen_on(setup_, 1);
  addresses_ = listening.addresses;
  for (const auto& port : listening.fds) listeners_.emplace_back(port[0]);
  MessageTerms terms{setup_, longest_message(setup_), local_host(listeners_[0].get())};
  const int count = std::min(effective_threads(setup_), demands.max_loops);
  for (int i = 0; i < count; i++) {
    auto& room = *rooms_.emplace_back(std::make_unique<Room>());
    room.loop = std::make_unique<MessageLoop>(contract::Role::server, make(terms));
  }
  stop_event_ = Descriptor(eventfd(0, EFD_CLOEXEC));
  threads_.emplace_back([this] {
    name_thread("accept");
    accept_all();
  });
  for (std::size_t i = 0; i < rooms_.size(); i++) {
    threads_.emplace_back([this, i] {
      name_thread("loop " + std::to_string(i));
      serve(*rooms_[i]);
    });
  }
}

MessageServer::~MessageServer() {
  stopped_ = true;
  const std::uint64_t one = 1;
  if (write(stop_event_.get(), &one, sizeof one) < 0) std::perror("stop the accepting thread");
  for (std::thread& thread : threads_) thread.join();
}

void MessageServer::accept_all() {
  std::vector<pollfd> asked = {{stop_event_.get(), POLLIN, 0}};
  for (const Descriptor& listener : listeners_) asked.push_back({listener.get(), POLLIN, 0});
  while (!stopped_ && poll(asked.data(), asked.size(), -1) >= 0) {
    for (std::size_t i = 1; i < asked.size(); i++) {
      if (asked[i].revents != 0) admit(asked[i].fd);
    }
  }
}

void MessageServer::admit(int listener) {
  Descriptor control(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (control.get() < 0 || !allowed_.accepts(control.get())) return;
  try {
    const std::uint32_t number = greet(control.get());
    Room& room = *rooms_[number % rooms_.size()];
    const std::lock_guard lock(room.mutex);
    room.waiting.emplace_back(std::move(control), number);
    room.wanted = true;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
  }
}

void MessageServer::serve(Room& room) {
  while (!stopped_) {
    if (room.wanted.load(std::memory_order_relaxed)) take(room);
    if (!room.loop->turn()) room.loop->wait(now_ns() + kIdleNs);
  }
}

/// Opens the connections that came meanwhile.
void MessageServer::take(Room& room) {
  std::vector<std::pair<Descriptor, std::uint32_t>> come;
  {
    const std::lock_guard lock(room.mutex);
    come.swap(room.waiting);
    room.wanted = false;
  }
  for (auto& [control, number] : come) {
    try {
      const std::size_t connection = room.loop->open(std::move(control), number);
      room.loop->carry(connection, work_->server(kCompareBuffer, room.traffic), false, true);
    } catch (const Failure& failure) {
      std::fprintf(stderr, "open connection %u: %s\n", number, failure.what());
    }
  }
}

contract::Ready MessageServer::ready() const {
  contract::Ready ready;
  ready.addresses = addresses_;
  ready.threads = static_cast<std::int64_t>(rooms_.size());
  ready.path.emplace();
  ready.options = setup_.options;
  ready.polls = rooms_[0]->loop->engine().polls();
  return ready;
}

contract::Counts MessageServer::counts() const {
  contract::Counts counts;
  for (const auto& room : rooms_) {
    const Traffic& traffic = room->traffic;
    counts.exchanges += traffic.exchanges.get();
    counts.received_bytes += traffic.received.get();
    counts.sent_bytes += traffic.sent.get();
    counts.connections += traffic.connections.get();
    counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] += traffic.invalid.get();
  }
  return counts;
}

}  // namespace netdyno
