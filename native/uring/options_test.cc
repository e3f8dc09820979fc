// The worker with each combination of its options: the bytes are the same with all.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "kit/address.h"
#include "kit/system.h"
#include "test/executable.h"
#include "test/worker_process.h"

namespace netdyno::uring_worker {

using test::EchoServer;
using test::Json;
using test::ToldClient;

namespace {

std::vector<Json> combinations() { return {{{"wait", "event"}}, {{"wait", "poll"}}, {{"entries", 8}}}; }

class Options : public testing::TestWithParam<Json> {};

/// Of a combination, what a server has too.
Json served_by(Json options) {
  options.erase("wait");
  return options;
}

void exchange(const Json& options, const Json& exchange, const Json& load) {
  Json change = {{"exchange", exchange}, {"options", options}, {"load", load}, {"threads", 1}};
  Json served = change;
  served["options"] = served_by(options);
  test::expect_all_exchanged(test::beside(NETDYNO_WORKER), served, change);
}

TEST_P(Options, EchoTheSameBytes) {
  for (const std::int64_t bytes : {1, 100, 16'384, 70'000, 3'000'000}) {
    // The largest cost most: one more than is in flight shows that a slot goes on.
    exchange(GetParam(), {{"up_bytes", bytes}, {"down_bytes", bytes}},
             {{"connections", 4}, {"in_flight", 3}, {"amount", bytes > 1'000'000 ? 4 : 7}});
  }
}

TEST_P(Options, StreamTheSameBytes) {
  for (const char* stream : {"up", "down", "both"}) {
    exchange(GetParam(),
             {{"up_bytes", 700'000}, {"down_bytes", 900'001}, {"stream", stream}, {"chunk_bytes", 65'536}},
             {{"connections", 3}, {"in_flight", 2}, {"amount", 5}});
  }
}

TEST_P(Options, ServeManyConnections) {
  exchange(GetParam(), {{"up_bytes", 64}, {"down_bytes", 64}},
           {{"connections", 300}, {"in_flight", 1}, {"amount", 6}});
}

// More is in flight than sockets hold.
TEST_P(Options, ServePipelinesThatOverflowEveryBuffer) {
  exchange(GetParam(), {{"up_bytes", 50'000}, {"down_bytes", 50'000}},
           {{"connections", 8}, {"in_flight", 64}, {"amount", 100}});
}

TEST_P(Options, ServeOnWhenClientsBreakOff) {
  EchoServer server(test::beside(NETDYNO_WORKER), {{"options", served_by(GetParam())}});
  const Endpoint at = endpoint(parse_address(server.address(), "server"), "server");
  const std::string bytes(100'000, 'x');
  for (int i = 0; i < 40; i++) {
    const Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    connect(fd.get(), at.get(), at.size);
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    while (i % 4 != 0 && send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
      // Fills both ends' buffers: the server has a send under way that nobody reads.
      if (i % 4 == 1) break;
    }
    const linger reset{i % 2, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  ToldClient client(test::beside(NETDYNO_WORKER), server.address(),
                    {{"load", {{"connections", 4}, {"amount", 10}}}});
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  EXPECT_EQ(client.worker.expect("result").at("counts").at("exchanges"), 40);
  Json open;
  for (int i = 0; i < test::kTimeoutMs / 20 && open != 4; i++) {  // until the server has noticed
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    server.worker().send({{"mark", {{"id", i}}}});
    open = server.worker().expect("mark").at("reading").at("counts").at("connections");
  }
  EXPECT_EQ(open, 4);
}

TEST_P(Options, EndInTimeUnderLoad) {
  const Json change = {{"options", GetParam()}, {"load", {{"connections", 20}, {"in_flight", 4}}}};
  EchoServer server(test::beside(NETDYNO_WORKER), {{"options", served_by(GetParam())}});
  ToldClient client(test::beside(NETDYNO_WORKER), server.address(), change);
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  client.worker.expect("tick");
  server.worker().close_stdin();
  EXPECT_EQ(server.worker().wait(), 0);
  EXPECT_NO_THROW(client.worker.expect_error("peer", true));
  EXPECT_EQ(client.worker.wait(), 1);
}

INSTANTIATE_TEST_SUITE_P(Uring, Options, testing::ValuesIn(combinations()),
                         [](const auto& tested) { return test::name_of(tested.param); });

}  // namespace
}  // namespace netdyno::uring_worker
