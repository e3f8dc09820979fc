// Both ends of transport grpcpp in one process, in every way in which an
// exchange travels: what the sanitizers watch.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "grpcpp/client.h"
#include "grpcpp/handler.h"
#include "grpcpp/options.h"
#include "kit/options.h"
#include "kit/system.h"

namespace netdyno::grpc_worker {

using contract::ErrorKind;
using contract::Exchange;
using contract::Failure;
using contract::Options;
using contract::Role;
using contract::Stream;

namespace {

constexpr std::int64_t kConnections = 4;
constexpr std::int64_t kAmount = 20;

contract::Setup setup_of(Role role, const Exchange& exchange, const Options& given) {
  contract::Transport transport;
  transport.name = "grpcpp";
  transport.options = options();
  contract::Setup setup;
  setup.role = role;
  setup.listen = "127.0.0.1:0";
  setup.listeners = 2;
  setup.allow = {"127.0.0.1"};
  setup.threads = 2;
  setup.exchange = exchange;
  setup.load.connections = kConnections;
  setup.load.in_flight = 3;
  setup.options = complete_options(transport, role, given);
  return setup;
}

Exchange trial_of(std::int64_t up, std::int64_t down, Stream stream = Stream::none) {
  Exchange exchange;
  exchange.up_bytes = up;
  exchange.down_bytes = down;
  exchange.stream = stream;
  exchange.chunk_bytes = stream == Stream::none ? 0 : 1'000;
  return exchange;
}

Exchange message() {
  Exchange exchange;
  exchange.codec = "proto";
  exchange.message = contract::Structure{"simple",
                                         "",
                                         {"netdyno.v1.Text", R"({"text":"a question"})"},
                                         {"netdyno.v1.Text", R"({"text":"and its answer"})"}};
  return exchange;
}

struct Case {
  std::string name;
  Exchange exchange;
  Options options;
};

class Ways : public testing::TestWithParam<Case> {};

TEST_P(Ways, BothEndsCountTheSame) {
  const Case& c = GetParam();
  GrpcServer server(setup_of(Role::server, c.exchange, c.options));
  contract::Setup setup = setup_of(Role::client, c.exchange, c.options);
  setup.peers = server.ready().addresses;
  ASSERT_EQ(setup.peers.size(), 2U);
  setup.load.amount = kAmount;
  Load load(setup, 2);
  GrpcClient client(setup, load);
  EXPECT_EQ(client.connections(), kConnections);
  EXPECT_EQ(server.counts().connections, kConnections);
  const contract::Counts before = server.counts();
  EXPECT_EQ(before.exchanges, kConnections) << "one is verified on each connection";
  load.start(now_ns());
  client.run();
  const contract::Result result = load.result(now_ns());
  const contract::Counts after = server.counts();
  EXPECT_EQ(result.counts.exchanges, kConnections * kAmount);
  EXPECT_EQ(result.counts.error_sum(), 0);
  EXPECT_EQ(after.exchanges - before.exchanges, result.counts.exchanges);
  EXPECT_EQ(after.received_bytes - before.received_bytes, result.counts.sent_bytes);
  EXPECT_EQ(after.sent_bytes - before.sent_bytes, result.counts.received_bytes);
}

INSTANTIATE_TEST_SUITE_P(Every, Ways,
                         testing::Values(Case{"unary", trial_of(100, 20'000), Options{}},
                                         Case{"raw", trial_of(20'000, 100), {{"codec", "raw"}}},
                                         Case{"nothing", trial_of(0, 0), {{"codec", "raw"}}},
                                         Case{"message", message(), Options{}},
                                         Case{"up", trial_of(5'500, 10, Stream::up), Options{}},
                                         Case{"down", trial_of(10, 5'500, Stream::down), {{"codec", "raw"}}},
                                         Case{"both", trial_of(5'500, 3'000, Stream::both), Options{}}),
                         [](const auto& way) { return way.param.name; });

// An end that is let go in the middle of its load leaves nothing behind.
TEST(Session, IsCutWithWhatIsInFlight) {
  for (const std::string codec : {"proto", "raw"}) {
    const Options given = {{"codec", codec}};
    GrpcServer server(setup_of(Role::server, trial_of(100, 100), given));
    contract::Setup setup = setup_of(Role::client, trial_of(100, 100), given);
    setup.peers = server.ready().addresses;
    Load load(setup, 2);
    GrpcClient client(setup, load);
    load.start(now_ns());
    std::thread running([&client] { client.run(); });
    while (load.counts().exchanges < 100) std::this_thread::yield();
    client.close();
    running.join();
    EXPECT_EQ(load.counts().error_sum(), 0) << "what was cut is unfinished, not failed";
  }
}

// A server that goes away under the load is an error of every exchange in flight.
TEST(Session, TellsOfALostServer) {
  for (const std::string codec : {"proto", "raw"}) {
    const Options given = {{"codec", codec}};
    auto server = std::make_unique<GrpcServer>(setup_of(Role::server, trial_of(100, 100), given));
    contract::Setup setup = setup_of(Role::client, trial_of(100, 100), given);
    setup.peers = server->ready().addresses;
    Load load(setup, 2);
    GrpcClient client(setup, load);
    load.start(now_ns());
    std::thread killing([&] {
      while (load.counts().exchanges < 100) std::this_thread::yield();
      server.reset();
    });
    try {
      client.run();
      ADD_FAILURE() << "the client runs on without a server";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::peer) << failure.what();
    }
    killing.join();
    EXPECT_EQ(client.connections(), 0);
    EXPECT_GE(load.counts().error_sum(), 1);
  }
}

}  // namespace
}  // namespace netdyno::grpc_worker
