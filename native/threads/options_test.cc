// The worker with each combination of its options: the bytes are the same with all.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kit/address.h"
#include "kit/system.h"
#include "test/executable.h"
#include "test/worker_process.h"
#include "threads/transfers.h"

namespace netdyno::threads_worker {

using test::EchoServer;
using test::Json;
using test::kTimeoutMs;
using test::ToldClient;

namespace {

std::vector<Json> combinations() {
  std::vector<Json> all;
  for (const char* send : {"write", "sendfile", "splice", "zerocopy"}) {
    all.push_back({{"send", send}, {"receive", "read"}});
  }
  all.push_back({{"send", "sendfile"}, {"receive", "truncate"}});
  all.push_back({{"send", "write"}, {"receive", "splice"}});
  all.push_back({{"send", "zerocopy"}, {"receive", "splice"}, {"lowat", 200'000}});
  all.push_back({{"lowat", 100'000}});
  return all;
}

class Options : public testing::TestWithParam<Json> {};

void exchange(const Json& options, const Json& exchange, const Json& load) {
  const Json change = {{"exchange", exchange}, {"options", options}, {"load", load}};
  test::expect_all_exchanged(test::beside(NETDYNO_WORKER), change, change);
}

TEST_P(Options, StreamTheSameBytes) {
  for (const char* stream : {"up", "down", "both"}) {
    exchange(GetParam(),
             {{"up_bytes", 700'000}, {"down_bytes", 900'001}, {"stream", stream}, {"chunk_bytes", 65'536}},
             {{"connections", 3}, {"in_flight", 2}, {"amount", 5}});
  }
}

TEST_P(Options, StreamOneWayAndAreConfirmed) {
  exchange(GetParam(), {{"up_bytes", 700'000}, {"down_bytes", 1}, {"stream", "up"}, {"chunk_bytes", 131'072}},
           {{"connections", 2}, {"in_flight", 4}, {"amount", 16}});
  exchange(GetParam(),
           {{"up_bytes", 1}, {"down_bytes", 700'000}, {"stream", "down"}, {"chunk_bytes", 131'072}},
           {{"connections", 2}, {"in_flight", 4}, {"amount", 16}});
}

TEST_P(Options, KeepAnOpenLoopsTimes) {
  exchange(GetParam(), {{"up_bytes", 1}, {"down_bytes", 300'000}, {"stream", "down"}},
           {{"connections", 3}, {"in_flight", 2}, {"amount", 6}, {"rate", 200}});
}

INSTANTIATE_TEST_SUITE_P(Threads, Options, testing::ValuesIn(combinations()),
                         [](const auto& tested) { return test::name_of(tested.param); });

// Larger than the sockets hold: threads that wait for each other would wait for ever.
TEST(Threads, EchoMessagesOfEverySize) {
  for (const std::int64_t bytes : {1, 100, 16'384, 3'000'000}) {
    exchange({{"lowat", 50}}, {{"up_bytes", bytes}, {"down_bytes", bytes}},
             {{"connections", 2}, {"in_flight", 3}, {"amount", 6}});
  }
}

TEST(Threads, IdleConnectionsEndWithTheOthers) {
  exchange(Json::object(), {{"up_bytes", 100}, {"down_bytes", 100}},
           {{"connections", 4}, {"active_share", 1}, {"amount", 10}});
  EchoServer server(test::beside(NETDYNO_WORKER));
  ToldClient client(test::beside(NETDYNO_WORKER), server.address(),
                    {{"load", {{"connections", 4}, {"active_share", 0.5}, {"amount", 10}}}});
  EXPECT_EQ(client.worker.expect("ready").at("threads"), 4);
  client.worker.send({{"start", Json::object()}});
  const Json counts = client.worker.expect("result").at("counts");
  EXPECT_EQ(counts.at("exchanges"), 20);
  EXPECT_EQ(counts.at("connections"), 4);
}

/// What a client answers to a setup with the given changes.
std::string refusal(const Json& change, const std::string& kind) {
  ToldClient client(test::beside(NETDYNO_WORKER), "127.0.0.1:1", change);
  return client.worker.expect_error(kind, true).at("text");
}

TEST(Threads, RefusesWhatItCannotDo) {
  EXPECT_NE(refusal({{"load", {{"connections", kMaxConnections + 1}}}}, "unsupported").find("at most 256"),
            std::string::npos);
  EXPECT_NE(refusal({{"threads", 2}}, "unsupported").find("threads is 2"), std::string::npos);
  EXPECT_NE(refusal({{"options", {{"send", "sendfile"}}}}, "setup").find("which only wire stream has"),
            std::string::npos);
  EXPECT_NE(refusal({{"options", {{"receive", "splice"}}}}, "setup").find("expected read"),
            std::string::npos);
}

TEST(Threads, AServerRefusesMoreConnectionsThanItHasThreadsFor) {
  EchoServer server(test::beside(NETDYNO_WORKER));
  const Endpoint at = endpoint(parse_address(server.address(), "server"), "server");
  std::vector<Descriptor> clients;
  for (std::int64_t i = 0; i < kMaxConnections; i++) {
    clients.emplace_back(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(clients.back().get(), at.get(), at.size), 0);
  }
  Descriptor one_more(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(connect(one_more.get(), at.get(), at.size), 0);
  char byte = 'x';
  EXPECT_LE(recv(one_more.get(), &byte, 1, 0), 0) << "it is closed, not left waiting";
  // A thread that has ended makes room for another.
  clients.pop_back();
  ssize_t answered = 0;
  const std::int64_t deadline = now_ns() + std::int64_t{kTimeoutMs} * 1'000'000;
  while (answered != 1 && now_ns() < deadline) {
    one_more = Descriptor(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(one_more.get(), at.get(), at.size), 0);
    send(one_more.get(), &byte, 1, MSG_NOSIGNAL);
    answered = recv(one_more.get(), &byte, 1, 0);
  }
  EXPECT_EQ(answered, 1);
}

}  // namespace
}  // namespace netdyno::threads_worker
