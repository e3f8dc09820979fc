// What any worker of wire echo must do beyond the conversation vectors: the work itself, and
// peers that answer wrongly, end or stay silent.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "test/executable.h"
#include "test/odd_server.h"
#include "test/worker_process.h"

namespace netdyno::test {
namespace {

/// Runs a window of ms on a ready client and its server. Calls opened once the window is
/// open. Returns the client's result.
Json window(
    WorkerProcess& client, int ms, const std::function<void()>& opened = [] {}) {
  client.expect("ready");
  client.send({{"start", Json::object()}});
  client.send({{"mark", {{"id", 1}, {"reset", true}}}});
  client.expect("mark");
  opened();
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  client.send({{"mark", {{"id", 2}}}});
  client.expect("mark");
  client.send({{"stop", Json::object()}});
  return client.expect("result");
}

Json load(const Json& changes = Json::object()) {
  Json load = {{"connections", 4}};
  load.update(changes);
  return {{"load", load}};
}

TEST(EchoWorker, BytesOfBothEndsAgree) {
  for (const std::int64_t bytes : {1, 100, 70'000, 3'000'000}) {
    const Json exchange = {{"up_bytes", bytes}, {"down_bytes", bytes}};
    EchoServer server(executable(), {{"exchange", exchange}});
    Json change = load({{"in_flight", 3}, {"amount", 7}});
    change["exchange"] = exchange;
    ToldClient client(executable(), server.address(), change);
    client.worker.expect("ready");
    client.worker.send({{"start", Json::object()}});
    const Json result = client.worker.expect("result");
    EXPECT_EQ(result.at("counts").at("exchanges"), 28);
    EXPECT_EQ(result.at("counts").at("received_bytes"), 28 * bytes);
    const Json counts = server.counts(32);
    EXPECT_EQ(counts.at("exchanges"), 32) << "with one verified message on each connection";
    EXPECT_EQ(counts.at("sent_bytes"), 32 * bytes);
    EXPECT_EQ(counts.at("received_bytes"), 32 * bytes);
  }
}

TEST(EchoWorker, HistogramsAreThoseThatTheLoadHas) {
  EchoServer server(executable());
  const std::vector<std::pair<Json, std::pair<bool, bool>>> cases = {
      {Json::object(), {false, false}},
      {{{"think_ns", 1'000'000}}, {false, true}},
      {{{"rate", 2'000}}, {true, true}},
      {{{"rate", 2'000}, {"arrival", "poisson"}, {"in_flight", 2}}, {true, true}},
  };
  for (const auto& [change, has] : cases) {
    Json result;
    // On a machine that others keep busy a window may pass without a turn: it is tried again.
    for (int tries = 0; tries == 0 || (tries < 20 && result.at("counts").at("exchanges") == 0); ++tries) {
      ToldClient client(executable(), server.address(), load(change));
      result = window(client.worker, 150);
    }
    EXPECT_GT(result.at("counts").at("exchanges"), 0) << change;
    EXPECT_TRUE(result.contains("service")) << change;
    EXPECT_EQ(result.contains("response"), has.first) << change;
    EXPECT_EQ(result.contains("lag"), has.second) << change;
    EXPECT_FALSE(result.at("counts").contains("errors")) << result;
  }
}

TEST(EchoWorker, OpenLoopSendsItsScheduleAndNoMore) {
  EchoServer server(executable());
  double all = 0;
  double due = 0;
  // All that fell due in the window is accounted for, but for the ends: exchanges due before it,
  // of which a machine that others keep busy may leave more than a fifth, so it is tried again.
  for (int tries = 0; tries == 0 || (tries < 20 && std::abs(all - due) > due * 0.2 + 10); ++tries) {
    ToldClient client(executable(), server.address(), load({{"rate", 1'000}}));
    const Json result = window(client.worker, 300);
    due = (result.at("to_ns").get<double>() - result.at("from_ns").get<double>()) / 1e9 * 1'000;
    all = result.at("counts").at("exchanges").get<double>() + result.value("drained", 0.0) +
          result.value("unfinished", 0.0);
  }
  EXPECT_NEAR(all, due, due * 0.2 + 10);
}

TEST(EchoWorker, IdleConnectionsAreOpenAndSilent) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(),
                    load({{"connections", 40}, {"active_share", 0.05}, {"amount", 5}}));
  EXPECT_EQ(client.worker.expect("ready").at("connections"), 40);
  client.worker.send({{"start", Json::object()}});
  EXPECT_EQ(client.worker.expect("result").at("counts").at("exchanges"), 10) << "two active connections";
}

TEST(EchoWorker, ServerAcceptsOnlyTheAllowed) {
  EchoServer server(executable(), {{"allow", {"127.0.0.7"}}});
  Json from = load();
  from["sources"] = {"127.0.0.7"};
  ToldClient allowed(executable(), server.address(), from);
  EXPECT_NO_THROW(allowed.worker.expect("ready"));
  ToldClient other(executable(), server.address(), load());
  EXPECT_TRUE(other.worker.expect("error").value("fatal", false));
}

TEST(EchoWorker, ServerOpensSeveralListeners) {
  EchoServer server(executable(), {{"listeners", 3}});
  EXPECT_EQ(server.ready().at("addresses").size(), 3U);
  Json change = load({{"connections", 6}, {"amount", 1}});
  change["peers"] = server.ready().at("addresses");
  ToldClient client(executable(), server.address(), change);
  EXPECT_NO_THROW(client.worker.expect("ready"));
}

TEST(EchoWorker, PortInUseIsASetupError) {
  EchoServer server(executable());
  WorkerProcess second(executable());
  Json setup = setup_message(second.expect("hello").at("transports").at(0).at("name"), "server", "");
  setup["listen"] = server.address();
  second.send({{"setup", setup}});
  EXPECT_NO_THROW(second.expect_error("setup", true));
}

TEST(EchoWorker, LosingEveryConnectionIsFatal) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(), load());
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  client.worker.expect("tick");
  server.worker().kill();
  EXPECT_NO_THROW(client.worker.expect_error("peer", true));
  EXPECT_EQ(client.worker.wait(), 1);
}

/// Echoes n whole messages of 64 bytes. False when the peer closed.
bool echo(int fd, int n) {
  char message[64];
  for (; n > 0; n--) {
    if (recv(fd, message, sizeof message, MSG_WAITALL) != sizeof message) return false;
    if (::send(fd, message, sizeof message, MSG_NOSIGNAL) != sizeof message) return false;
  }
  return true;
}

TEST(EchoWorker, AnEchoThatDiffersIsInvalid) {
  const OddServer server([](int fd) {
    char message[64];
    if (recv(fd, message, sizeof message, MSG_WAITALL) != sizeof message) return;
    message[40] = static_cast<char>(message[40] ^ 1);
    ::send(fd, message, sizeof message, MSG_NOSIGNAL);
    swallow(fd);
  });
  ToldClient client(executable(), server.address(), load());
  Json error;
  ASSERT_NO_THROW(error = client.worker.expect_error("invalid", true));
  EXPECT_NE(error.at("text").get<std::string>().find("connection "), std::string::npos) << error;
}

TEST(EchoWorker, AShortEchoIsInvalid) {
  const OddServer server([](int fd) {
    char message[64];
    if (recv(fd, message, sizeof message, MSG_WAITALL) == sizeof message)
      ::send(fd, message, 10, MSG_NOSIGNAL);
  });
  ToldClient client(executable(), server.address(), load());
  EXPECT_NO_THROW(client.worker.expect_error("invalid", true));
}

TEST(EchoWorker, BytesThatNobodyAskedForAreInvalid) {
  const OddServer server([](int fd) {
    if (!echo(fd, 5)) return;
    char message[128] = {};
    if (recv(fd, message, 64, MSG_WAITALL) == 64) ::send(fd, message, sizeof message, MSG_NOSIGNAL);
    swallow(fd);
  });
  ToldClient client(executable(), server.address(), load({{"connections", 1}}));
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  EXPECT_NO_THROW(client.worker.expect_error("invalid", true));
}

TEST(EchoWorker, ALostConnectionCountsWhatWasInFlight) {
  std::atomic<int> first{-1};
  const OddServer server([&first](int fd) {
    int none = -1;
    first.compare_exchange_strong(none, fd);
    echo(fd, 1 << 30);
  });
  ToldClient client(executable(), server.address(), load());
  const Json result = window(client.worker, 200, [&first] { shutdown(first, SHUT_RDWR); });
  EXPECT_EQ(result.at("counts").at("connections"), 3);
  EXPECT_EQ(result.at("counts").value("errors", Json::object()).value("peer", 0), 1) << result;
}

TEST(EchoWorker, AStallAtTheEndIsUnfinished) {
  const OddServer server([](int fd) {
    echo(fd, 3);
    swallow(fd);
  });
  ToldClient client(executable(), server.address(), load({{"drain_ns", 50'000'000}}));
  const Json result = window(client.worker, 1000);  // every thread has begun, under a sanitizer too
  EXPECT_EQ(result.at("unfinished"), 4);
  EXPECT_TRUE(result.contains("ages"));
}

TEST(EchoWorker, EndsInTimeWhileItsPeerIsSilent) {
  const OddServer server([](int fd) { swallow(fd); });
  ToldClient client(executable(), server.address(), load());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // in the middle of setup
  client.worker.close_stdin();
  EXPECT_EQ(client.worker.wait(), 0);
}

TEST(EchoWorker, EndsInTimeUnderLoad) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(), load());
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  client.worker.expect("tick");
  client.worker.close_stdin();
  EXPECT_EQ(client.worker.wait(), 0);
}

}  // namespace
}  // namespace netdyno::test
