// Draws by the vectors that Go runs, and exchanges of drawn sizes.
#include "kit/draw.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "flow_rig.h"
#include "kit/drawn_echo.h"
#include "kit/json.h"
#include "kit/load.h"
#include "kit/places.h"
#include "vectors.h"

namespace netdyno {
namespace {

using contract::ErrorKind;
using contract::Failure;
using contract::Json;
using contract::Table;

/// A table of contract/vectors, written out or by its rule.
Table table_of(const Json& said) {
  Table table;
  if (said.is_array()) {
    for (const Json& s : said) table.push_back({s.at(0), s.at(1), s.at(2)});
    return table;
  }
  const std::int64_t many = said.at("many");
  const std::int64_t end = said.at("step_end");
  const std::int64_t step = said.at("step");
  for (std::int64_t i = 0; i < many; i++) table.push_back({(i + 1) * end, i * step, i * step + step - 1});
  return table;
}

TEST(Draw, StreamsAreThoseOfTheVectors) {
  const Json streams = test::vectors("sizes.json").at("streams");
  EXPECT_GE(streams.size(), 16U);
  for (const Json& v : streams) {
    const std::uint64_t begin = begin_of(v.at("stream").get<DrawStream>(), v.at("seed"));
    for (std::size_t n = 0; n < v.at("outputs").size(); n++) {
      EXPECT_EQ(output_at(begin, n), std::stoull(v.at("outputs")[n].get<std::string>(), nullptr, 16)) << v;
    }
  }
}

TEST(Draw, SizesAreThoseOfTheVectors) {
  const Json vectors = test::vectors("sizes.json");
  std::size_t draws = 0;
  for (const Json& v : vectors.at("draws")) {
    const Table table = table_of(vectors.at("tables").at(v.at("name").get<std::string>()));
    ASSERT_EQ(contract::wrong_table(table, contract::kMaxFlowMessage), "") << v.at("name");
    contract::Setup setup;
    setup.seed = v.at("seed");
    setup.exchange.up_sizes = setup.exchange.down_sizes = table;
    setup.exchange.up_bytes = setup.exchange.down_bytes = contract::most_of(table);
    const Draws drawn(setup);
    for (std::size_t i = 0; i < v.at("numbers").size(); i++, draws++) {
      const Draw draw = drawn.of(v.at("numbers")[i]);
      EXPECT_EQ(draw.up, v.at("up_bytes")[i].get<std::int64_t>()) << v.at("name") << i;
      EXPECT_EQ(draw.down, v.at("down_bytes")[i].get<std::int64_t>()) << v.at("name") << i;
    }
  }
  EXPECT_GE(draws, 150U);
}

TEST(Draw, RefusesWhatTheVectorsRefuse) {
  const Json refused = test::vectors("sizes.json").at("refused");
  EXPECT_GE(refused.size(), 9U);
  for (const Json& v : refused) {
    const Table table = table_of(v.contains("many") ? v.at("many") : v.at("table"));
    EXPECT_NE(contract::wrong_table(table, contract::kMaxFlowMessage), "") << v.at("name");
  }
}

/// A load of contract/vectors, as setup has it.
contract::Setup loaded(const Json& said, std::uint64_t seed, std::int64_t slots) {
  Json load = said;
  load["connections"] = slots;
  return contract::parse_setup({{"role", "client"}, {"seed", seed}, {"load", load}});
}

TEST(Schedule, DuesAreThoseOfTheVectors) {
  std::size_t dues = 0;
  const Json schedules = test::vectors("schedule.json").at("schedules");
  for (const Json& v : schedules) {
    const std::int64_t slots = v.at("slots");
    const contract::Setup setup = loaded(v.at("load"), v.at("seed"), slots);
    const auto places = Places::of(setup.load, setup.seed);
    for (const Json& slot : v.at("slots_due")) {
      Schedule schedule(setup.load, setup.seed, {slot.at("slot"), slots}, places.get());
      std::int64_t k = 0;
      for (const Json& pair : slot.at("due_ns")) {
        for (; k < pair.at(0).get<std::int64_t>(); k++) schedule.advance();
        const std::int64_t due = pair.at(1).is_null() ? kNeverDue : pair.at(1).get<std::int64_t>();
        EXPECT_EQ(schedule.peek(), due) << v.at("name") << ", slot " << slot.at("slot") << ", exchange " << k;
        dues++;
      }
    }
  }
  EXPECT_GE(dues, 150U);
}

TEST(Schedule, RefusesLoadsThatTheVectorsRefuse) {
  const Json refused = test::vectors("schedule.json").at("refused");
  EXPECT_GE(refused.size(), 8U);
  for (const Json& v : refused) {
    try {
      Load(loaded(v.at("load"), 1, 1), 1);
      ADD_FAILURE() << v.at("name") << ": accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::setup) << v.at("name");
    }
  }
}

TEST(Warp, GoesThereAndBack) {
  for (const bool repeat : {false, true}) {
    const Warp warp({{1e9, 0, 1000}, {5e8, 0, 0}, {2e9, 1000, 300}}, repeat);
    std::int64_t last = 0;
    for (double place = 0.5; place < 6000; place += 17.25) {
      const std::int64_t due = warp.due_ns(place);
      EXPECT_GE(due, last) << place;
      EXPECT_NEAR(warp.place(static_cast<double>(due)), place, 1e-5);
      last = due;
    }
  }
}

contract::Setup echo(const Table& table, std::int64_t connections, std::int64_t in_flight) {
  contract::Setup setup;
  setup.seed = 5;
  setup.role = contract::Role::client;
  setup.exchange.up_sizes = setup.exchange.down_sizes = table;
  setup.exchange.up_bytes = setup.exchange.down_bytes = contract::most_of(table);
  setup.load.connections = connections;
  setup.load.in_flight = in_flight;
  return setup;
}

const Table kSome = {{1LL << 31, 1, 10}, {1LL << 32, 500, 3000}};

/// Answers come in whatever pieces, and complete exchanges at their own lengths.
TEST(DrawnPipeline, CountsWhatTheSeedSays) {
  for (const std::int64_t in_flight : {1, 4}) {
    const contract::Setup setup = echo(kSome, 1, in_flight);
    test::ClientRig rig(setup, Work::of(setup));
    constexpr std::uint64_t kMost = 200;
    std::int64_t want = 0;
    for (std::uint64_t n = 0; n < kMost; n++) want += rig.load.draws().of(n).up;
    std::uint64_t random = 3;
    std::int64_t moved = 0;
    std::int64_t unread = 0;
    while (moved < want) {
      while (rig.flow->unsent() && unread < 5000) {
        const auto out = rig.flow->outgoing(2);
        ASSERT_FALSE(out.empty());
        const std::size_t n = split_mix(random) % out.size() + 1;
        rig.flow->written(n);
        unread += static_cast<std::int64_t>(n);
      }
      const auto room = static_cast<std::int64_t>(rig.flow->read_buffer().size());
      const std::int64_t n =
          std::min({room, unread, want - moved, static_cast<std::int64_t>(split_mix(random) % 900 + 1)});
      rig.flow->received(static_cast<std::size_t>(n), 3);
      moved += n;
      unread -= n;
    }
    const contract::Counts counts = rig.counts();
    EXPECT_EQ(counts.exchanges, static_cast<std::int64_t>(kMost));
    EXPECT_EQ(counts.sent_bytes, want);
    EXPECT_EQ(counts.received_bytes, want);
    EXPECT_FALSE(rig.load.result(9).lengths.empty());
  }
}

TEST(DrawnPipeline, RefusesBytesThatAnswerNothing) {
  const contract::Setup setup = echo(kSome, 1, 1);
  test::ClientRig rig(setup, Work::of(setup));
  test::sent(*rig.flow);
  const auto size = static_cast<std::size_t>(rig.load.draws().of(0).up);
  EXPECT_THROW(rig.flow->received(size + 1, 3), Failure);
}

TEST(DrawnEcho, TheFirstExchangeHasTheSizeOfItsConnection) {
  const contract::Setup setup = echo(kSome, 20, 1);
  const Draws draws(setup);
  const auto work = Work::of(setup);
  for (std::int64_t connection = 0; connection < 20; connection++) {
    const auto first = work->verification(connection);
    first->begin(1);
    const std::string said = test::sent(*first);
    EXPECT_EQ(static_cast<std::int64_t>(said.size()), draws.of(static_cast<std::uint64_t>(connection)).up);
    test::give(*first, said);
    EXPECT_TRUE(first->verified()) << connection;
  }
}

TEST(DrawnEcho, RefusesWhatItCannotCarry) {
  const auto kind_of = [](const contract::Setup& setup) {
    try {
      Work::of(setup);
    } catch (const Failure& failure) {
      return std::string(contract::name(failure.kind()));
    }
    return std::string("accepted");
  };
  EXPECT_EQ(kind_of(echo({{1LL << 32, 0, 100}}, 1, 1)), "setup");
  contract::Setup other = echo(kSome, 1, 1);
  other.exchange.down_sizes = {{1LL << 32, 1, 3000}};
  EXPECT_EQ(kind_of(other), "setup");
  contract::Setup smaller = echo(kSome, 1, 1);
  smaller.exchange.up_bytes = smaller.exchange.down_bytes = 2999;
  EXPECT_EQ(kind_of(smaller), "setup");
  contract::Setup streamed = echo(kSome, 1, 1);
  streamed.exchange.stream = contract::Stream::up;
  EXPECT_EQ(kind_of(streamed), "unsupported");
}

TEST(DrawnLoad, SlotsDrawByTheirSchedulesNumbers) {
  const contract::Setup setup = echo(kSome, 3, 2);
  Load load(setup, 2);
  const Draws draws(setup);
  load.start(1);
  for (std::int64_t connection = 0; connection < 3; connection++) {
    for (std::int64_t within = 0; within < 2; within++) {
      Slot& slot = load.slots(connection)[static_cast<std::size_t>(within)];
      for (std::uint64_t k = 0; k < 5; k++) {
        std::int64_t due = 0;
        ASSERT_TRUE(slot.next(2, due));
        const auto number = static_cast<std::uint64_t>(within * 3 + connection) + k * 6;
        EXPECT_EQ(slot.draw().up, draws.of(number).up);
        EXPECT_EQ(slot.draw().down, draws.of(number).down);
        slot.done(2, 3, slot.draw().up);
      }
    }
  }
}

TEST(DrawnLoad, AServerReadsAskedLengthsStrictly) {
  const auto read = [](const std::string& text) {
    AskedDown asked;
    asked.read(text, 100);
    return asked.bytes;
  };
  EXPECT_EQ(read("0"), 0);
  EXPECT_EQ(read("100"), 100);
  for (const std::string wrong : {"", "101", "-1", "+1", " 1", "1 ", "0x1", "1,1", "99999999999999999999"}) {
    EXPECT_EQ(read(wrong), -1) << wrong;
  }
}

}  // namespace
}  // namespace netdyno
