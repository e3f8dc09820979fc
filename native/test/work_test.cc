#include "kit/work.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "kit/random.h"

namespace netdyno {
namespace {

using contract::ErrorKind;
using contract::Failure;
using contract::Role;
using contract::Stream;

contract::Setup setup_of(Role role, Stream stream, std::int64_t up, std::int64_t down) {
  contract::Setup setup;
  setup.role = role;
  setup.seed = 9;
  setup.exchange = {up, down, "", stream, 1000};
  setup.load.connections = 8;
  return setup;
}

/// Moves at most n bytes that from has into to; returns how many.
std::size_t move(Flow& from, Flow& to, std::size_t n) {
  if (!from.unsent()) return 0;
  const auto out = from.outgoing(0);
  const auto buffer = to.read_buffer();
  const std::size_t moved = std::min({n, out.size(), buffer.size()});
  if (moved == 0) return 0;
  std::memcpy(buffer.data(), out.data(), moved);
  from.written(moved);
  to.received(moved, 0);
  return moved;
}

/// A verification against a server's flow; their bytes move in pieces.
struct Verification {
  Verification(Stream stream, std::int64_t up, std::int64_t down)
      : client(Work::of(setup_of(Role::client, stream, up, down))),
        server(Work::of(setup_of(Role::server, stream, up, down))),
        verification(client->verification(5)),
        server_end(server->server(4096, traffic)) {
    verification->begin(0);
    server_end->begin(0);
  }

  void run() {
    std::uint64_t random = 77;
    while (!verification->verified()) {
      const std::size_t up = move(*verification, *server_end, 1 + split_mix(random) % 5000);
      const std::size_t down = move(*server_end, *verification, 1 + split_mix(random) % 5000);
      ASSERT_GT(up + down, 0U) << "stuck";
    }
  }

  std::unique_ptr<const Work> client;
  std::unique_ptr<const Work> server;
  Traffic traffic;
  std::unique_ptr<Work::Verification> verification;
  std::unique_ptr<Flow> server_end;
};

TEST(Work, ATrialVerifiesOneExchangeAtBothEnds) {
  const std::vector<std::tuple<Stream, std::int64_t, std::int64_t>> cases = {{Stream::none, 1, 1},
                                                                             {Stream::none, 8, 8},
                                                                             {Stream::none, 200'000, 200'000},
                                                                             {Stream::up, 1, 1},
                                                                             {Stream::up, 300'000, 1},
                                                                             {Stream::down, 100, 300'000},
                                                                             {Stream::both, 70'000, 90'000}};
  for (const auto& [stream, up, down] : cases) {
    SCOPED_TRACE(testing::Message() << contract::name(stream) << ' ' << up << ' ' << down);
    Verification v(stream, up, down);
    v.run();
    EXPECT_EQ(v.verification->arrived(), down);
    EXPECT_TRUE(v.verification->read_buffer().empty()) << "it takes no more than its exchange";
    EXPECT_FALSE(v.verification->unsent());
    EXPECT_EQ(v.traffic.exchanges.get(), 1);
    EXPECT_EQ(v.traffic.received.get(), up);
    EXPECT_EQ(v.traffic.sent.get(), down);
  }
}

TEST(Work, ATrialRefusesAWrongAnswer) {
  for (const Stream stream : {Stream::none, Stream::up, Stream::down, Stream::both}) {
    Verification v(stream, 64, 64);
    while (v.verification->unsent()) v.verification->written(v.verification->outgoing(0).size());
    const auto buffer = v.verification->read_buffer();
    std::memset(buffer.data(), 'x', buffer.size());
    try {
      v.verification->received(buffer.size(), 0);
      FAIL() << "accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::invalid);
    }
  }
}

TEST(Work, ATrialRefusesAnAnswerBeforeItsQuestion) {
  Verification v(Stream::up, 64, 8);
  v.verification->written(63);
  EXPECT_THROW(v.verification->received(1, 0), Failure);
}

TEST(Work, AnEchoReturnsWhatItReadBeforeItReadsOn) {
  const auto work = Work::of(setup_of(Role::server, Stream::none, 10, 10));
  Traffic traffic;
  const auto flow = work->server(32, traffic);
  flow->begin(0);
  ASSERT_EQ(flow->read_buffer().size(), 32U);
  std::memcpy(flow->read_buffer().data(), "0123456789abcde", 15);
  flow->received(15, 0);
  EXPECT_TRUE(flow->read_buffer().empty());
  std::string returned;
  for (const std::size_t n : {4U, 6U, 5U}) {
    const auto out = flow->outgoing(0);
    returned.append(out.data(), n);
    flow->written(n);
  }
  EXPECT_EQ(returned, "0123456789abcde");
  EXPECT_FALSE(flow->unsent());
  EXPECT_EQ(flow->read_buffer().size(), 32U);
  EXPECT_EQ(traffic.exchanges.get(), 1) << "the second message is not whole";
  EXPECT_EQ(traffic.received.get(), 15);
  EXPECT_EQ(traffic.sent.get(), 15);
}

TEST(Work, RefusesByTheWireThatTheSetupAsksFor) {
  EXPECT_THROW(Work::of(setup_of(Role::client, Stream::none, 10, 11)), Failure);
  EXPECT_NO_THROW(Work::of(setup_of(Role::client, Stream::up, 10, 11)));
}

}  // namespace
}  // namespace netdyno
