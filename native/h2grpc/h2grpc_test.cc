// Bodies of gRPC by themselves, and both ends of grpc-nghttp2 without sockets, in every way in
// which an exchange travels.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "h2/test_setup.h"
#include "h2grpc/body.h"
#include "h2grpc/call.h"
#include "kit/options.h"

namespace netdyno::h2grpc {

using contract::Exchange;
using contract::Options;
using contract::Role;
using contract::Stream;
using grpc_worker::Content;

namespace {

Content content(std::size_t size) {
  Content made;
  made.bytes = std::string(size, 'x');
  for (std::size_t i = 0; i < size; i++) made.bytes[i] = static_cast<char>(i * 7);
  made.size = static_cast<std::int64_t>(size);
  return made;
}

/// The body that is sent, and its longest piece.
std::string sent(const Body& body, std::size_t* longest = nullptr) {
  h2::Outgoing out;
  std::string all;
  body.begin(out);
  for (;;) {
    all += out.piece;
    if (longest != nullptr) *longest = std::max(*longest, out.piece.size());
    if (!out.more) return all;
    body.next(out);
  }
}

// What was cut is joined again, however it is read, and sizes and cuts divide each other or
// do not.
TEST(Chunks, AreJoinedToWhatWasCut) {
  for (const bool raw : {false, true}) {
    for (const std::size_t size : {0U, 1U, 5U, 6U, 7U, 100U}) {
      for (const std::int64_t chunk : {1, 2, 3, 100, 1000}) {
        const Content all = content(size);
        const ChunkedBody body({all, all, "request"}, {raw, true, true, chunk}, 4096);
        const std::string whole = sent(body);
        for (std::size_t step = 1; step <= whole.size(); step++) {
          h2::Incoming in;
          for (std::size_t at = 0; at < whole.size(); at += step) {
            ASSERT_TRUE(body.data(in, std::string_view(whole).substr(at, step))) << in.why;
          }
          const Taken taken = body.end(in, false);
          EXPECT_EQ(taken.code, ok) << taken.why;
          EXPECT_EQ(taken.bytes, all.size);
          EXPECT_EQ(body.end(in, true).code, ok);
        }
      }
    }
  }
}

// A long body is on its way piece by piece, and small chunks share a frame.
TEST(Chunks, AreEncodedWhenTheirTurnComes) {
  const Content all = content(1 << 20);
  for (const std::int64_t chunk : {100, 10'000, 100'000}) {
    const ChunkedBody body({all, all, "request"}, {false, true, true, chunk}, 1 << 20);
    std::size_t longest = 0;
    sent(body, &longest);
    EXPECT_GE(longest, 16U << 10);
    EXPECT_LE(longest, (16U << 10) + static_cast<std::size_t>(chunk) + 20);
  }
}

// One more than one message is wrong where one is expected, and what is cut off is not whole.
TEST(Chunks, OfOneMessageAreOne) {
  const Content all = content(10);
  const ChunkedBody one({all, all, "request"}, {true, true, false, 4}, 4096);
  const std::string three = sent(one);
  h2::Incoming in;
  EXPECT_FALSE(one.data(in, three));
  EXPECT_EQ(in.fault, internal);
  in.begin();
  EXPECT_EQ(one.end(in, {}).code, internal) << "no message at all";
  const ChunkedBody many({all, all, "request"}, {true, true, true, 4}, 4096);
  for (const std::size_t cut : {1U, 3U, 1U + 5U}) {
    in.begin();
    ASSERT_TRUE(many.data(in, std::string_view(three).substr(0, three.size() - cut)));
    EXPECT_NE(many.end(in, {}).code, ok);
  }
}

contract::Setup setup_of(Role role, const Exchange& exchange, const Options& given) {
  contract::Setup setup;
  setup.role = role;
  setup.exchange = exchange;
  setup.peers = {"127.0.0.1:8080"};
  setup.load.connections = 1;
  setup.load.in_flight = 3;
  setup.load.amount = 20;
  contract::Transport transport;
  transport.roles = {Role::server, Role::client};
  transport.options = options();
  setup.options = complete_options(transport, role, given);
  return setup;
}

std::shared_ptr<const Work> work(const contract::Setup& setup) { return work_of(setup); }

struct Case {
  std::string name;
  Exchange exchange;
  Options options;
  bool works = false;  // the server does, for each exchange
};

Exchange exchange(std::int64_t up, std::int64_t down, Stream stream = Stream::none) {
  return {up, down, "bytes", stream, stream == Stream::none ? 0 : 1000};
}

class Ways : public testing::TestWithParam<Case> {};

TEST_P(Ways, BothEndsCountTheSame) {
  const Case& c = GetParam();
  contract::Setup setup = setup_of(Role::client, c.exchange, c.options);
  setup.stages = true;
  const auto client = work(setup);
  contract::Setup worked = setup_of(Role::server, c.exchange, c.options);
  if (c.works) worked.work = contract::Work{.ns = {{contract::kTableEnd, 1000, 1000}}};
  const auto theirs = work(worked);
  Traffic traffic;
  const auto server = theirs->server(4096, traffic);
  server->begin(0);
  {
    const auto verification = client->verification(0);
    verification->begin(0);
    h2::test::converse(*verification, *server);
    ASSERT_TRUE(verification->verified());
  }
  EXPECT_EQ(traffic.exchanges.get(), 1);
  test::ClientRig rig(setup, client);
  h2::test::converse(*rig.flow, *server);
  EXPECT_EQ(rig.counts().exchanges, setup.load.amount);
  EXPECT_EQ(rig.counts().error_sum(), 0);
  const std::int64_t all = setup.load.amount + 1;
  EXPECT_EQ(rig.counts().sent_bytes, setup.load.amount * c.exchange.up_bytes);
  EXPECT_EQ(rig.counts().received_bytes, setup.load.amount * c.exchange.down_bytes);
  EXPECT_EQ(rig.agenda.held(), 0U);
  EXPECT_EQ(traffic.exchanges.get(), all);
  EXPECT_EQ(traffic.received.get(), all * c.exchange.up_bytes);
  EXPECT_EQ(traffic.sent.get(), all * c.exchange.down_bytes);
  EXPECT_EQ(traffic.invalid.get(), 0);
  Histogram first_byte;  // at 3; the first exchanges were due at 1, and each that followed one at once
  first_byte.record(3 - 1, setup.load.in_flight);
  first_byte.record(0, setup.load.amount - setup.load.in_flight);
  EXPECT_EQ(rig.load.result(4).stages.value().first_byte, first_byte.encode());
}

INSTANTIATE_TEST_SUITE_P(
    Every, Ways,
    testing::Values(
        Case{"unary", exchange(100, 200'000), Options{}},
        Case{"stream", exchange(100, 200'000), {{"mode", "stream"}}},
        Case{"raw_stream", exchange(200'000, 100), {{"mode", "stream"}, {"codec", "raw"}}},
        Case{"nothing", exchange(0, 0), {{"mode", "stream"}, {"codec", "raw"}}},
        Case{"up", exchange(200'500, 10, Stream::up), Options{}},
        Case{"down", exchange(10, 200'500, Stream::down), {{"codec", "raw"}}},
        Case{"both", exchange(5'500, 3'000, Stream::both), Options{}},
        Case{"work", exchange(100, 200'000), Options{}, true},
        Case{"work_on_a_stream", exchange(5'500, 3'000), {{"mode", "stream"}, {"stream_window", 10}}, true},
        Case{"small_windows", exchange(5'500, 3'000, Stream::both), {{"stream_window", 10}}},
        Case{"small_windows_of_a_stream",
             exchange(5'500, 3'000),
             {{"mode", "stream"}, {"stream_window", 10}}}),
    [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace netdyno::h2grpc
