// The loops of transport libevent by themselves.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "kit/load.h"
#include "kit/sockets.h"
#include "kit/system.h"
#include "kit/work.h"
#include "libevent/ends.h"

namespace netdyno::libevent_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;
using contract::Setup;

namespace {

constexpr int kTimeoutMs = 20'000;

/// Waits until the condition holds, 20 s at most.
bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < kTimeoutMs && !holds(); i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return holds();
}

/// Both ends of a connection, the first non-blocking, the second the test's.
struct Pair {
  Descriptor loops;
  Descriptor tests;

  Pair() {
    std::array<int, 2> fds{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    evutil_make_socket_nonblocking(fds[0]);
    loops = Descriptor(fds[0]);
    tests = Descriptor(fds[1]);
    const timeval timeout{kTimeoutMs / 1000, 0};
    setsockopt(fds[1], SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  }

  /// Reads n bytes, or what comes before the end.
  std::string read(std::size_t n) const {
    std::string bytes(n, '\0');
    std::size_t have = 0;
    while (have < n) {
      pollfd ready{tests.get(), POLLIN, 0};
      if (poll(&ready, 1, kTimeoutMs) <= 0) break;
      const ssize_t got = recv(tests.get(), bytes.data() + have, n - have, 0);
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
  }

  void write(std::span<const char> bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::send(tests.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }
};

Setup setup_of(Role role, std::int64_t up, std::int64_t down) {
  Setup setup;
  setup.role = role;
  setup.listen = "127.0.0.1:0";
  setup.exchange.up_bytes = up;
  setup.exchange.down_bytes = down;
  setup.load.connections = 1;
  return setup;
}

/// A server's loop that runs on a thread of its own for the time of a test.
class Running {
 public:
  ~Running() {
    loop.stop();
    if (thread_.joinable()) thread_.join();
  }
  void run() {
    thread_ = std::thread([this] { loop.run(); });
  }
  EventServerLoop loop;

 private:
  std::thread thread_;
};

TEST(Timer, CallsOnceAndNotBefore) {
  const Base base;
  std::vector<std::int64_t> calls;
  Timer timer(base, [&] {
    calls.push_back(now_ns());
    event_base_loopbreak(base.get());
  });
  const std::int64_t hour = 3'600'000'000'000;
  for (const std::int64_t wait : {std::int64_t{2'000'000}, std::int64_t{1}, std::int64_t{-hour}}) {
    const std::int64_t at = now_ns() + wait;
    timer.set(at + hour);  // replaced by the next
    timer.set(at);
    calls.clear();
    event_base_loop(base.get(), 0);
    ASSERT_EQ(calls.size(), 1);
    EXPECT_GE(calls[0], at);
    event_base_loop(base.get(), EVLOOP_NONBLOCK);
    EXPECT_EQ(calls.size(), 1) << "it called again";
  }
}

TEST(Loops, ServerReturnsWhatComes) {
  const auto work = Work::of(setup_of(Role::server, 100, 100));
  Running running;
  Pair pair;
  running.loop.adopt(pair.loops.release(), work->server(4096, running.loop.traffic));
  running.run();
  // Far more than both sockets and libevent hold: the loop must stop and go on.
  std::string sent(3'000'000, '\0');
  for (std::size_t i = 0; i < sent.size(); i++) sent[i] = static_cast<char>(i * 7919 >> 8);
  std::thread writer([&] { pair.write(sent); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(pair.read(sent.size()) == sent) << "other bytes came back";
  writer.join();
  const Traffic& traffic = running.loop.traffic;
  EXPECT_EQ(traffic.received.get(), 3'000'000);
  EXPECT_TRUE(eventually([&] { return traffic.sent.get() == 3'000'000; }));
  EXPECT_EQ(traffic.connections.get(), 1);
  pair.tests = Descriptor();
  EXPECT_TRUE(eventually([&] { return traffic.connections.get() == 0; }));
}

/// Makes the verified exchange of a client's connection on the test's end.
void verify(const Pair& pair, const Setup& server) {
  Setup setup = server;
  setup.role = Role::client;
  const auto work = Work::of(setup);
  const auto verification = work->verification(0);
  verification->begin(0);
  while (verification->unsent()) {
    const auto bytes = verification->outgoing(0);
    pair.write(bytes);
    verification->written(bytes.size());
  }
  while (!verification->verified()) {
    const std::span<char> buffer = verification->read_buffer();
    const std::string came = pair.read(buffer.size());
    ASSERT_EQ(came.size(), buffer.size());
    std::ranges::copy(came, buffer.begin());
    verification->received(came.size(), 0);
  }
}

TEST(Loops, ServerStreamsDown) {
  auto setup = setup_of(Role::server, 5, 2'000'000);
  setup.exchange.stream = contract::Stream::down;
  setup.exchange.chunk_bytes = 1000;
  const auto work = Work::of(setup);
  Running running;
  Pair pair;
  running.loop.adopt(pair.loops.release(), work->server(4096, running.loop.traffic));
  running.run();
  verify(pair, setup);
  EXPECT_TRUE(eventually([&] { return running.loop.traffic.exchanges.get() == 1; }));
}

TEST(Loops, ServerDropsTheOneThatSendsSomethingElse) {
  auto setup = setup_of(Role::server, 50, 1);
  setup.exchange.stream = contract::Stream::up;
  const auto work = Work::of(setup);
  Running running;
  Pair wrong;
  Pair right;
  running.run();
  running.loop.adopt(wrong.loops.release(), work->server(4096, running.loop.traffic));
  running.loop.adopt(right.loops.release(), work->server(4096, running.loop.traffic));
  wrong.write(std::string(50, 'x'));
  EXPECT_EQ(wrong.read(1), "") << "it was confirmed";
  EXPECT_EQ(running.loop.traffic.invalid.get(), 1);
  verify(right, setup);
  EXPECT_EQ(running.loop.traffic.connections.get(), 1);
}

TEST(Loops, ServerGoesAwayWithItsConnections) {
  const auto work = Work::of(setup_of(Role::server, 10, 10));
  Pair served;
  Pair waiting;
  {
    Running running;
    running.loop.adopt(served.loops.release(), work->server(64, running.loop.traffic));
    running.run();
    EXPECT_TRUE(eventually([&] { return running.loop.traffic.connections.get() == 1; }));
    running.loop.stop();
    running.loop.adopt(waiting.loops.release(), work->server(64, running.loop.traffic));
  }
  EXPECT_EQ(served.read(1), "");
  EXPECT_EQ(waiting.read(1), "");
}

/// A client's loop with one connection, and the load that it drives.
struct Driven {
  explicit Driven(const contract::Load& plan) : setup(setup_of(Role::client, 100, 100)) {
    setup.load = plan;
    setup.load.connections = 1;
    work = Work::of(setup);
    load.emplace(setup, 1);
    loop.emplace();
    loop->add(pair.loops.release(), work->client({0, 0, load->slots(0), loop->agenda()}), true);
    load->start(now_ns());
  }

  Pair pair;
  Setup setup;
  std::unique_ptr<const Work> work;
  std::optional<Load> load;
  std::optional<EventClientLoop> loop;
};

TEST(Loops, ClientDrivesItsLoadToTheEnd) {
  for (const double rate : {0.0, 2'000.0}) {
    contract::Load plan;
    plan.in_flight = 3;
    plan.amount = 20;
    plan.rate = rate;
    Driven driven(plan);
    std::thread echo([&] {
      for (int i = 0; i < 20; i++) driven.pair.write(driven.pair.read(100));
    });
    driven.loop->run();
    echo.join();
    EXPECT_EQ(driven.load->counts().exchanges, 20);
    EXPECT_EQ(driven.load->counts().error_sum(), 0);
    EXPECT_EQ(driven.loop->open_connections(), 1);
  }
}

TEST(Loops, ClientCountsWhatWasInFlightOnALostConnection) {
  contract::Load plan;
  plan.in_flight = 3;
  Driven driven(plan);
  std::thread peer([&] {
    driven.pair.read(300);
    driven.pair.tests = Descriptor();
  });
  driven.loop->run();
  peer.join();
  EXPECT_EQ(driven.load->counts().errors[static_cast<std::size_t>(ErrorKind::peer)], 3);
  EXPECT_EQ(driven.loop->open_connections(), 0);
  EXPECT_EQ(driven.loop->active_connections(), 0);
}

TEST(Loops, ClientThrowsForBytesThatNobodyAskedFor) {
  Driven driven{contract::Load{}};
  driven.pair.write(std::string(150, 'x'));
  try {
    driven.loop->run();
    FAIL() << "it took them";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::invalid) << failure.what();
  }
}

TEST(Loops, ClientForgetsWhatIsDueAfterTheEnd) {
  contract::Load plan;
  plan.rate = 0.001;
  Driven driven(plan);
  std::thread control([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    driven.load->end(now_ns());
    driven.loop->end(driven.load->closing());
  });
  driven.loop->run();
  control.join();
  EXPECT_EQ(driven.loop->agenda().held(), 0);
}

TEST(Loops, ClientStopsWithExchangesInFlight) {
  Driven driven{contract::Load{}};
  std::thread control([&] {
    driven.pair.read(100);
    driven.loop->stop();
  });
  driven.loop->run();
  control.join();
  EXPECT_EQ(driven.loop->agenda().held(), 1);
}

/// As many files as are open now may be open, until it goes.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const Descriptor next(dup(0));
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(next.get());
    setrlimit(RLIMIT_NOFILE, &now);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Listener, CountsAcceptsThatFailAndTriesAgain) {
  const auto setup = setup_of(Role::server, 1, 1);
  const Listening listening = listen_on(setup, 1);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(listening.fds[0][0], reinterpret_cast<sockaddr*>(&address), &size);
  Running running;
  std::atomic<int> admitted{0};
  running.loop.listen(listening.fds[0][0], [&](int fd) {
    const Descriptor closed(fd);
    admitted++;
  });
  const Descriptor client(socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  running.run();
  {
    const NoMoreFiles limit;
    ASSERT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_TRUE(eventually([&] { return running.loop.refused > 1; }));
    EXPECT_EQ(admitted, 0);
  }
  EXPECT_TRUE(eventually([&] { return admitted == 1; }));
}

}  // namespace
}  // namespace netdyno::libevent_worker
