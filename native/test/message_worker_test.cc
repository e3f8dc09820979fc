// What any worker on the kit's ends for whole messages must do: both ends count the
// same, wrong content is refused, and a lost or strange peer holds up nobody.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "kit/address.h"
#include "kit/system.h"
#include "test/executable.h"
#include "test/odd_server.h"
#include "test/worker_process.h"

namespace netdyno::test {
namespace {

Json exchange_of(const std::string& stream, std::int64_t up, std::int64_t down, std::int64_t chunk) {
  Json exchange = {{"up_bytes", up}, {"down_bytes", down}};
  if (!stream.empty()) exchange.update({{"stream", stream}, {"chunk_bytes", chunk}});
  return {{"exchange", exchange}};
}

Json with_load(const Json& load, Json change = Json::object()) {
  change["load"] = {{"connections", 3}};
  change["load"].update(load);
  return change;
}

/// What both ends counted of the same work.
struct Counts {
  Json client;
  Json served;
};

Json reading(WorkerProcess& worker, int id) {
  worker.send({{"mark", {{"id", id}}}});
  return worker.expect("mark").at("reading").at("counts");
}

/// Runs a fixed amount of work, and returns what each end counted of it.
Counts run_amount(EchoServer& server, const Json& change, std::int64_t exchanges) {
  ToldClient client(executable(), server.address(), change);
  client.worker.expect("ready");
  const Json before = reading(server.worker(), 1);
  client.worker.send({{"start", Json::object()}});
  const Json counts = client.worker.expect("result").at("counts");
  Json served = server.counts(before.at("exchanges").get<std::int64_t>() + exchanges);
  for (const char* key : {"exchanges", "received_bytes", "sent_bytes"}) {
    served[key] = served.at(key).get<std::int64_t>() - before.at(key).get<std::int64_t>();
  }
  return {counts, served};
}

TEST(MessageWorker, BytesOfBothEndsAgree) {
  const std::vector<std::array<std::int64_t, 4>> cases = {{3'000'000, 1, 65'536, 2},
                                                          {70'000, 90'000, 1'000, 4}};
  for (const std::string stream : {"", "up", "down", "both"}) {
    for (const auto& [up, down, chunk, in_flight] : cases) {
      SCOPED_TRACE(testing::Message() << stream << ' ' << up << ' ' << down << ' ' << chunk);
      const Json change = exchange_of(stream, up, down, chunk);
      EchoServer server(executable(), change);
      const auto [counts, served] =
          run_amount(server, with_load({{"in_flight", in_flight}, {"amount", 6}}, change), 18);
      EXPECT_EQ(counts.at("exchanges"), 18);
      EXPECT_EQ(counts.at("sent_bytes"), 18 * up);
      EXPECT_EQ(counts.at("received_bytes"), 18 * down);
      EXPECT_FALSE(counts.contains("errors")) << counts;
      EXPECT_EQ(served.at("exchanges"), 18);
      EXPECT_EQ(served.at("received_bytes"), 18 * up);
      EXPECT_EQ(served.at("sent_bytes"), 18 * down);
    }
  }
}

/// Runs a window of an open loop on a ready client, and returns its result.
Json window(WorkerProcess& client, const std::function<void()>& opened) {
  client.expect("ready");
  client.send({{"start", Json::object()}});
  client.send({{"mark", {{"id", 1}, {"reset", true}}}});
  client.expect("mark");
  opened();
  client.send({{"mark", {{"id", 2}}}});
  client.expect("mark");
  client.send({{"stop", Json::object()}});
  return client.expect("result");
}

TEST(MessageWorker, AnOpenLoopHasResponseTimesAndLag) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(), with_load({{"rate", 2'000}, {"in_flight", 2}}));
  const Json result = window(client.worker, [&server] {
    server.counts(reading(server.worker(), 7).at("exchanges").get<std::int64_t>() + 200);
  });
  EXPECT_GE(result.at("counts").at("exchanges"), 100) << result;
  EXPECT_TRUE(result.contains("response") && result.contains("lag")) << result;
  EXPECT_FALSE(result.at("counts").contains("errors")) << result;
}

TEST(MessageWorker, IdleConnectionsAreOpenAndSilent) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(),
                    with_load({{"connections", 10}, {"active_share", 0.2}, {"amount", 5}}));
  const Json ready = client.worker.expect("ready");
  EXPECT_EQ(ready.at("connections"), 10);
  EXPECT_EQ(ready.at("verified"), 10);
  client.worker.send({{"start", Json::object()}});
  EXPECT_EQ(client.worker.expect("result").at("counts").at("exchanges"), 10) << "two active connections";
}

TEST(MessageWorker, ReadySaysWhatWayTheMessagesTook) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(), with_load(Json::object()));
  const Json ready = client.worker.expect("ready");
  ASSERT_TRUE(ready.contains("path")) << ready;
  EXPECT_NE(ready.at("path").value("over", ""), "");
  EXPECT_NE(ready.at("path").value("over", ""), "unknown") << "both ends are on this host";
  EXPECT_NE(ready.at("path").value("by", ""), "");
}

TEST(MessageWorker, ALostServerIsFatal) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(), with_load(Json::object()));
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  client.worker.expect("tick");
  server.worker().kill();
  EXPECT_NO_THROW(client.worker.expect_error("peer", true));
  EXPECT_EQ(client.worker.wait(), 1);
}

/// The server serves again after a client that was killed under load.
TEST(MessageWorker, ALostClientLeavesTheServerServing) {
  const Json change = exchange_of("up", 1 << 20, 1, 64 << 10);
  EchoServer server(executable(), change);
  {
    ToldClient client(executable(), server.address(), with_load(Json::object(), change));
    client.worker.expect("ready");
    client.worker.send({{"start", Json::object()}});
    client.worker.expect("tick");
    client.worker.kill();
  }
  const auto [counts, served] = run_amount(server, with_load({{"amount", 2}}, change), 6);
  EXPECT_EQ(counts.at("exchanges"), 6);
}

TEST(MessageWorker, EndsInTimeUnderLoad) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(), with_load(Json::object()));
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  client.worker.expect("tick");
  client.worker.close_stdin();
  EXPECT_EQ(client.worker.wait(), 0);
  server.worker().close_stdin();
  EXPECT_EQ(server.worker().wait(), 0);
}

TEST(MessageWorker, EndsInTimeWhileItsPeerIsSilent) {
  std::atomic<bool> came{false};
  const OddServer server([&came](int fd) {
    came = true;
    swallow(fd);
  });
  ToldClient client(executable(), server.address(), with_load(Json::object()));
  for (int i = 0; i < 500 && !came; i++) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  client.worker.close_stdin();
  EXPECT_EQ(client.worker.wait(), 0);
}

Descriptor dial(const std::string& where) {
  const Endpoint at = endpoint(parse_address(where, "address"), "address");
  Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), at.get(), at.size) != 0) throw std::runtime_error("connect to " + where);
  return fd;
}

TEST(MessageWorker, StrangersHoldUpNobody) {
  EchoServer server(executable());
  std::vector<Descriptor> silent;
  for (int i = 0; i < 8; i++) silent.push_back(dial(server.address()));
  const Descriptor other = dial(server.address());
  const std::string speech = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(send(other.get(), speech.data(), speech.size(), MSG_NOSIGNAL), std::ssize(speech));
  char byte = 0;
  EXPECT_LE(recv(other.get(), &byte, 1, 0), 0) << "who speaks another protocol is sent away";
  const auto [counts, served] = run_amount(server, with_load({{"amount", 2}}), 6);
  EXPECT_EQ(counts.at("exchanges"), 6);
  EXPECT_LE(recv(silent[0].get(), &byte, 1, 0), 0) << "who says nothing is sent away, too";
  EXPECT_EQ(reading(server.worker(), 9).value("errors", Json::object()).value("invalid", 0), 1);
}

TEST(MessageWorker, AServerThatSpeaksAnotherProtocolIsAnError) {
  const OddServer server([](int fd) {
    const std::string speech = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    ::send(fd, speech.data(), speech.size(), MSG_NOSIGNAL);
    swallow(fd);
  });
  ToldClient client(executable(), server.address(), with_load(Json::object()));
  EXPECT_NO_THROW(client.worker.expect_error("invalid", true));
}

}  // namespace
}  // namespace netdyno::test
