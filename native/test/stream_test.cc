#include "kit/stream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "kit/echo.h"
#include "kit/random.h"
#include "kit/work.h"
#include "test/crc.h"
#include "test/flows.h"
#include "test/vectors.h"

namespace netdyno {
namespace {

using contract::ErrorKind;
using contract::Failure;
using contract::Stream;
using test::drain;
using test::feed;
using test::message;

contract::Setup setup_of(Stream stream, std::int64_t up, std::int64_t down, std::int64_t chunk) {
  contract::Setup setup;
  setup.exchange = {up, down, "", stream, chunk};
  setup.load.connections = 1;
  return setup;
}

/// The kind with which act fails; the test fails when it does not.
template <class Act>
ErrorKind kind_of(Act act) {
  try {
    act();
  } catch (const Failure& failure) {
    return failure.kind();
  }
  ADD_FAILURE() << "nothing was refused";
  return ErrorKind::bug;
}

/// One connection of one client with all that it needs.
struct Client {
  explicit Client(const contract::Setup& setup)
      : plan(setup), load(setup, 1), flow(plan, Flights(0, load.slots(0), agenda)) {
    load.start(1);
    load.open(1);
    flow.begin(1);
  }
  StreamPlan plan;
  Load load;
  Agenda agenda;
  StreamClient flow;
};

struct Server {
  explicit Server(const contract::Setup& setup, std::size_t buffer = 4096)
      : plan(setup), flow(plan, buffer, traffic) {
    flow.begin(0);
  }
  StreamPlan plan;
  Traffic traffic;
  StreamServer flow;
};

std::string hex_of(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    text += {kDigits[b >> 4], kDigits[b & 15]};
  }
  return text;
}

TEST(StreamContent, Vectors) {
  const auto file = test::vectors("stream.json");
  for (const auto& v : file.at("cases")) {
    const auto state = v.at("direction") == "up" ? StreamContent::kUp : StreamContent::kDown;
    const StreamContent content(state, v.at("bytes"), v.at("chunk_bytes"));
    const std::string all = message(content);
    EXPECT_EQ(hex_of(all.substr(0, 16)), v.at("first")) << v;
    EXPECT_EQ(test::crc32c(all), std::stoul(v.at("crc32c").get<std::string>(), nullptr, 16)) << v;
    EXPECT_EQ(content.agreeing(0, all), all.size()) << v;
  }
}

TEST(StreamContent, NamesTheFirstByteThatDiffers) {
  const StreamContent content(StreamContent::kUp, 1000, 64);
  for (const std::size_t at : {0U, 1U, 63U, 64U, 500U}) {
    for (const std::size_t wrong : {at, at + 1, at + 130, std::size_t{999}}) {
      std::string all = message(content);
      all[wrong] = static_cast<char>(all[wrong] ^ 4);
      EXPECT_EQ(content.agreeing(static_cast<std::int64_t>(at), std::string_view(all).substr(at)),
                wrong - at);
    }
  }
}

TEST(StreamContent, AGibibyteIsNotAllocated) {
  const StreamPlan plan(setup_of(Stream::both, 1 << 30, 1 << 30, 4096));
  EXPECT_EQ(plan.up().from(0).size(), 4096U);
  EXPECT_EQ(plan.up().from((1 << 30) - 5).size(), 5U);
  EXPECT_EQ(plan.up().from(0).data() + 4090, plan.up().from((1 << 29) + 4090).data()) << "one block";
}

TEST(StreamContent, SaysHowManyPiecesInARowAreAlike) {
  const StreamContent content(StreamContent::kUp, 1'000, 64);
  EXPECT_EQ(content.repeats(0, 1'000), 15U);
  EXPECT_EQ(content.repeats(64 * 14, 1'000), 1U) << "the last one is shorter";
  EXPECT_EQ(content.repeats(0, 63), 1U);
  EXPECT_EQ(content.repeats(1, 1'000), 1U) << "not a whole block";
  EXPECT_EQ(content.repeats(128, 128 + 64 * 3), 3U) << "as far as may be sent";
}

TEST(StreamPlan, RefusesWhatTheWireCannotCarry) {
  contract::Setup coded = setup_of(Stream::up, 1, 1, 1);
  coded.exchange.codec = "proto";
  contract::Setup fresh = setup_of(Stream::up, 1, 1, 1);
  fresh.load.fresh = true;
  const std::vector<std::pair<contract::Setup, ErrorKind>> bad = {
      {setup_of(Stream::up, 0, 1, 1), ErrorKind::setup},
      {setup_of(Stream::up, 1, 0, 1), ErrorKind::setup},
      {setup_of(Stream::up, (1 << 30) + 1, 1, 1), ErrorKind::setup},
      {setup_of(Stream::up, 1, 1LL << 40, 1), ErrorKind::setup},
      {setup_of(Stream::up, 1, 1, -1), ErrorKind::setup},
      {setup_of(Stream::up, 1, 1, (64 << 20) + 1), ErrorKind::setup},
      {coded, ErrorKind::unsupported},
      {fresh, ErrorKind::unsupported},
  };
  for (const auto& [setup, kind] : bad) {
    EXPECT_EQ(kind_of([&, &it = setup] { StreamPlan plan(it); }), kind);
  }
}

/// A direction of a connection: bytes that were written and not yet read.
class Pipe {
 public:
  explicit Pipe(const StreamContent& content, std::int64_t chunk) : content_(content), chunk_(chunk) {}

  /// At most n bytes of what flow has go into the pipe, looked at.
  void write(Flow& flow, std::size_t n, std::int64_t now) {
    if (!flow.unsent()) return;
    const auto out = flow.outgoing(now);
    ASSERT_FALSE(out.empty());
    ASSERT_LE(static_cast<std::int64_t>(out.size()), chunk_);
    ASSERT_LE(static_cast<std::int64_t>(out.size()), content_.bytes() - at_) << "beyond its message";
    const std::size_t taken = std::min(n, out.size());
    ASSERT_EQ(content_.agreeing(at_, out.first(taken)), taken);
    under_way_.append(out.data(), taken);
    at_ = (at_ + static_cast<std::int64_t>(taken)) % content_.bytes();
    total_ += static_cast<std::int64_t>(taken);
    flow.written(taken);
  }

  /// At most n bytes leave the pipe into the flow's buffer.
  void read(Flow& flow, std::size_t n, std::int64_t now) {
    const auto buffer = flow.read_buffer();
    ASSERT_FALSE(buffer.empty());
    const std::size_t taken = std::min({n, buffer.size(), under_way_.size() - from_});
    if (taken == 0) return;
    std::memcpy(buffer.data(), under_way_.data() + from_, taken);
    from_ += taken;
    if (from_ == under_way_.size()) {
      under_way_.clear();
      from_ = 0;
    }
    flow.received(taken, now);
  }

  std::int64_t total() const { return total_; }

 private:
  const StreamContent& content_;
  std::int64_t chunk_;
  std::int64_t at_ = 0;
  std::int64_t total_ = 0;
  std::string under_way_;
  std::size_t from_ = 0;
};

/// Runs exchanges between both flows until the client's amount is done; size
/// says how many bytes the next write or read moves.
template <class Size>
void converse(contract::Setup setup, std::int64_t in_flight, Size size) {
  constexpr std::int64_t kAmount = 4;
  setup.load.in_flight = in_flight;
  setup.load.amount = kAmount;
  Client client(setup);
  Server server(setup,
                static_cast<std::size_t>(std::min<std::int64_t>(1 + setup.exchange.up_bytes / 10, 5000)));
  Pipe up(client.plan.up(), setup.exchange.chunk_bytes);
  Pipe down(client.plan.down(), setup.exchange.chunk_bytes);
  std::int64_t now = 10;
  for (std::int64_t left = 20'000'000; client.agenda.held() > 0; now++, left--) {
    ASSERT_GT(left, 0) << "stuck";
    up.write(client.flow, size(), now);
    up.read(server.flow, size(), now);
    down.write(server.flow, size(), now);
    down.read(client.flow, size(), now);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(client.load.counts().exchanges, kAmount);
  EXPECT_EQ(client.load.counts().received_bytes, kAmount * setup.exchange.down_bytes);
  EXPECT_EQ(up.total(), kAmount * setup.exchange.up_bytes);
  EXPECT_EQ(down.total(), kAmount * setup.exchange.down_bytes);
  EXPECT_EQ(server.traffic.exchanges.get(), kAmount);
  EXPECT_EQ(server.traffic.received.get(), up.total());
  EXPECT_EQ(server.traffic.sent.get(), down.total());
  EXPECT_FALSE(client.flow.unsent());
  EXPECT_FALSE(server.flow.unsent());
}

constexpr std::array kStreams = {Stream::up, Stream::down, Stream::both};

TEST(Stream, SurvivesEveryCutOfSmallMessages) {
  for (const Stream stream : kStreams) {
    for (const auto& [up, down] : {std::pair{1, 1}, {1, 5}, {5, 1}, {4, 7}, {13, 13}}) {
      for (const std::int64_t chunk : {1, 2, 3, 8, 64}) {
        for (std::size_t cut = 1; cut <= 14; cut++) {
          SCOPED_TRACE(testing::Message() << contract::name(stream) << ' ' << up << ' ' << down << " chunk "
                                          << chunk << " cut " << cut);
          for (const std::int64_t in_flight : {1, 3})
            converse(setup_of(stream, up, down, chunk), in_flight, [cut] { return cut; });
        }
      }
    }
  }
}

TEST(Stream, SurvivesRandomCuts) {
  std::uint64_t random = 20'261'122;
  // From single bytes to more than any message, whole orders of magnitude apart.
  const auto size = [&random] {
    return 1 + split_mix(random) % (std::uint64_t{1} << split_mix(random) % 23);
  };
  for (const Stream stream : kStreams) {
    for (const auto& [up, down] :
         {std::pair{1, 3'000'000}, {3'000'000, 1}, {70'000, 3}, {65'537, 65'535}, {2'000, 3'000}}) {
      for (const std::int64_t chunk : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{65'536}}) {
        if (chunk == 1 && up + down > 10'000) continue;  // millions of single bytes show no more
        SCOPED_TRACE(testing::Message()
                     << contract::name(stream) << ' ' << up << ' ' << down << " chunk " << chunk);
        for (const std::int64_t in_flight : {1, 4})
          converse(setup_of(stream, up, down, chunk), in_flight, size);
      }
    }
  }
}

TEST(StreamServer, AnswersOnlyWhatHasGoneUp) {
  for (const Stream stream : {Stream::up, Stream::down}) {
    Server server(setup_of(stream, 10, 6, 4));
    const std::string up = message(server.plan.up());
    feed(server.flow, up.substr(0, 9));
    EXPECT_FALSE(server.flow.unsent());
    feed(server.flow, up.substr(9));
    EXPECT_EQ(drain(server.flow), message(server.plan.down()));
  }
}

TEST(StreamServer, RestsUntilTheNextChunkOfAPacedReplyIsDue) {
  constexpr std::int64_t kEvery = 3'600'000'000'000;  // longer than any test
  contract::Setup setup = setup_of(Stream::down, 10, 9, 4);
  setup.exchange.every_ns = kEvery;
  Server server(setup);
  const std::string down = message(server.plan.down());
  const std::int64_t before = now_ns();
  feed(server.flow, message(server.plan.up()));
  std::string came;
  for (const std::size_t chunk : {4, 4, 1}) {
    EXPECT_EQ(server.flow.alike(), 1U);
    came += drain(server.flow);
    EXPECT_EQ(came, down.substr(0, came.size()));
    EXPECT_EQ(came.size() % 4, chunk % 4);
    if (came.size() == down.size()) break;
    const auto k = static_cast<std::int64_t>(came.size() / 4);
    const std::int64_t due = server.traffic.rests.next();
    EXPECT_GE(due, before + k * kEvery);
    EXPECT_LE(due, now_ns() + k * kEvery);
    ASSERT_EQ(server.traffic.rests.take(due), &server.flow);
    server.flow.rested(due);
  }
  EXPECT_EQ(came, down);
  EXPECT_EQ(server.traffic.rests.next(), Rests::kNever);
}

TEST(StreamClient, TellsChunksAsEvents) {
  contract::Setup setup = setup_of(Stream::down, 10, 9, 4);
  setup.events = setup.stages = true;
  Client client(setup);
  drain(client.flow);
  const std::string down = message(client.plan.down());
  feed(client.flow, down.substr(0, 3), 10);
  feed(client.flow, down.substr(3, 2), 20);
  feed(client.flow, down.substr(5), 30);
  const contract::Result result = client.load.result(40);
  const contract::Events& events = result.events.value();
  EXPECT_EQ(events.count, 3);
  Histogram first_byte, first, gaps;
  first_byte.record(9);
  first.record(19);
  gaps.record(10);
  gaps.record(0);
  EXPECT_EQ(result.stages.value().first_byte, first_byte.encode());
  EXPECT_EQ(events.first, first.encode());
  EXPECT_EQ(events.gaps, gaps.encode());
}

TEST(StreamServer, HoldsBackTheLastByteWhileBothStream) {
  Server server(setup_of(Stream::both, 10, 6, 4));
  const std::string up = message(server.plan.up());
  const std::string down = message(server.plan.down());
  EXPECT_FALSE(server.flow.unsent());
  feed(server.flow, up.substr(0, 1));
  EXPECT_EQ(drain(server.flow), down.substr(0, 5));
  feed(server.flow, up.substr(1, 8));
  EXPECT_EQ(drain(server.flow), "");
  EXPECT_EQ(server.traffic.exchanges.get(), 0);
  feed(server.flow, up.substr(9) + up.substr(0, 3));
  EXPECT_EQ(drain(server.flow), down.substr(5) + down.substr(0, 5));
  EXPECT_EQ(server.traffic.exchanges.get(), 1);
}

TEST(StreamServer, AOneByteAnswerWaitsForAll) {
  Server server(setup_of(Stream::both, 10, 1, 4));
  const std::string up = message(server.plan.up());
  feed(server.flow, up.substr(0, 9));
  EXPECT_FALSE(server.flow.unsent());
  feed(server.flow, up.substr(9));
  EXPECT_EQ(drain(server.flow), message(server.plan.down()));
}

TEST(StreamServer, FindsADifferenceInTheFirstExchangeAlone) {
  for (const std::size_t wrong : {0U, 63U, 64U, 99U}) {
    Server server(setup_of(Stream::up, 100, 1, 64), 7);
    std::string up = message(server.plan.up());
    up[wrong] = static_cast<char>(up[wrong] ^ 1);
    EXPECT_EQ(kind_of([&] { feed(server.flow, up); }), ErrorKind::invalid) << wrong;
    EXPECT_EQ(server.traffic.invalid.get(), 1);
    Server trusting(setup_of(Stream::up, 100, 1, 64), 7);
    EXPECT_NO_THROW(feed(trusting.flow, message(trusting.plan.up()) + up));
    EXPECT_EQ(drain(trusting.flow).size(), 2U);
  }
}

TEST(StreamServer, IsCountedWhileItIsOpen) {
  Traffic traffic;
  const StreamPlan plan(setup_of(Stream::up, 1, 1, 1));
  {
    StreamServer never_begun(plan, 1, traffic);
    StreamServer flow(plan, 1, traffic);
    EXPECT_EQ(traffic.connections.get(), 0);
    flow.begin(0);
    EXPECT_EQ(traffic.connections.get(), 1);
  }
  EXPECT_EQ(traffic.connections.get(), 0);
}

TEST(StreamClient, BytesThatNobodyAskedForAreInvalid) {
  const auto after = [](Stream stream, std::size_t sent, std::size_t came) {
    Client client(setup_of(stream, 10, 6, 100));
    if (sent > 0) {
      ASSERT_GE(client.flow.outgoing(1).size(), sent);
      client.flow.written(sent);
    }
    feed(client.flow, std::string(came, 'x'), 2);
  };
  for (const Stream stream : kStreams) {
    EXPECT_EQ(kind_of([&] { after(stream, 0, 1); }), ErrorKind::invalid) << "before anything went up";
    EXPECT_NO_THROW(after(stream, 10, 6));
    EXPECT_EQ(kind_of([&] { after(stream, 10, 7); }), ErrorKind::invalid) << "surplus";
  }
  EXPECT_EQ(kind_of([&] { after(Stream::up, 9, 1); }), ErrorKind::invalid) << "confirmed too early";
  EXPECT_NO_THROW(after(Stream::both, 1, 5));
  EXPECT_EQ(kind_of([&] { after(Stream::both, 9, 6); }), ErrorKind::invalid) << "the last byte too early";
}

TEST(StreamClient, SentIsTheInstantOfTheFirstByte) {
  contract::Setup setup = setup_of(Stream::up, 10, 2, 4);
  Client client(setup);
  client.flow.written(client.flow.outgoing(100).size());
  client.flow.written(client.flow.outgoing(200).size());
  client.flow.written(client.flow.outgoing(300).size());
  feed(client.flow, "12", 1'000);
  Histogram expected;
  expected.record(900);
  EXPECT_EQ(client.load.result(2'000).service, expected.encode());
}

TEST(StreamClient, ALostConnectionFailsWhatIsInFlightAndLetsGo) {
  contract::Setup setup = setup_of(Stream::down, 10, 6, 4);
  setup.load.in_flight = 3;
  Client client(setup);
  client.flow.written(client.flow.outgoing(1).size());
  client.flow.abandon(ErrorKind::peer, 5);
  EXPECT_FALSE(client.flow.unsent());
  EXPECT_EQ(client.agenda.held(), 0U);
  EXPECT_EQ(client.load.counts().errors[static_cast<std::size_t>(ErrorKind::peer)], 3);
}

TEST(StreamClient, AnIdleConnectionIsSilentAndNoticesItsEnd) {
  contract::Setup setup = setup_of(Stream::both, 10, 6, 4);
  setup.load.connections = 2;
  setup.load.active_share = 0.5;
  Load load(setup, 1);
  Agenda agenda;
  const StreamPlan plan(setup);
  StreamClient flow(plan, Flights(1, load.slots(1), agenda));
  flow.begin(1);
  EXPECT_FALSE(flow.unsent());
  EXPECT_EQ(flow.read_buffer().size(), 1U);
}

}  // namespace
}  // namespace netdyno
