#include "kit/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "kit/json.h"
#include "vectors.h"

namespace netdyno {
namespace {

using contract::ErrorKind;
using contract::Failure;

contract::Setup setup_of(const std::function<void(contract::Load&)>& change = [](auto&) {}) {
  contract::Setup setup;
  setup.exchange = {64, 64, ""};
  setup.load.connections = 2;
  change(setup.load);
  return setup;
}

/// The payload of a histogram with these values, encoded.
std::string times(const std::vector<std::int64_t>& values) {
  Histogram h;
  for (const std::int64_t v : values) h.record(v);
  return h.encode();
}

TEST(Load, ClosedLoopIsDueAtOnceAndCountsByPhase) {
  Load load(setup_of(), 1);
  Slot& slot = load.slots(0)[0];
  std::int64_t due = 0;
  load.start(1'000);
  ASSERT_TRUE(slot.next(1'000, due));
  EXPECT_EQ(due, 1'000);
  slot.done(1'010, 2'000, 64);  // before the window
  load.open(2'500);
  for (std::int64_t now = 3'000; now < 6'000; now += 1'000) {
    ASSERT_TRUE(slot.next(now, due));
    slot.done(now, now + 100, 64);
  }
  ASSERT_TRUE(slot.next(6'000, due));
  load.end(6'050);
  slot.done(6'000, 6'300, 64);  // drained
  EXPECT_FALSE(slot.next(6'300, due)) << "the load has ended";

  EXPECT_EQ(load.counts().exchanges, 5);
  const contract::Result result = load.result(7'000);
  EXPECT_EQ(result.from_ns, 2'500);
  EXPECT_EQ(result.to_ns, 6'050);
  EXPECT_EQ(result.counts.exchanges, 3);
  EXPECT_EQ(result.counts.sent_bytes, 3 * 64);
  EXPECT_EQ(result.counts.received_bytes, 3 * 64);
  EXPECT_EQ(result.drained, 1);
  EXPECT_EQ(result.unfinished, 0);
  EXPECT_EQ(result.service, times({100, 100, 100, 300}));
  EXPECT_EQ(result.response, "") << "a closed loop has no response time";
  EXPECT_EQ(result.lag, "");
}

/// Drives one slot with exchanges that take so long, the next as soon as it may; the
/// window is [from, to).
contract::Result drive(Load& load, std::int64_t takes, Span window) {
  Slot& slot = load.slots(0)[0];
  load.start(1);
  std::int64_t now = 1;
  std::int64_t due = 0;
  for (bool opened = false; slot.next(now, due);) {
    const std::int64_t sent = std::max(due, now);
    now = sent + takes;
    if (!opened && now > window.from) load.open(window.from);
    opened = opened || now > window.from;
    if (now > window.to) load.end(window.to);
    if (sent > window.to) break;  // it waited for its due time when the window closed
    slot.done(sent, now, 64);
  }
  return load.result(now);
}

TEST(Load, AnExchangeBelongsToTheWindowByTheShareOfItsTimeInside) {
  constexpr std::int64_t ms = 1'000'000;
  for (std::int64_t from = 3'000 * ms; from < 4'000 * ms; from += 77 * ms) {
    const Span window{from, from + 1'000 * ms};
    Load closed(setup_of([](contract::Load& l) { l.connections = 1; }), 1);
    const contract::Result steady = drive(closed, 400 * ms, window);
    ASSERT_TRUE(steady.inside);
    EXPECT_NEAR(steady.inside->exchanges, 2.5, 1e-6) << from;
    EXPECT_NEAR(steady.inside->cycles, 2.5, 1e-6) << from;
    EXPECT_EQ(steady.inside->idle_ns, 0);

    Load thinking(setup_of([](contract::Load& l) { l.connections = 1, l.think_ns = 150 * ms; }), 1);
    EXPECT_NEAR(drive(thinking, 250 * ms, window).inside->cycles, 2.5, 1e-3) << from;

    Load open(setup_of([](contract::Load& l) { l.connections = 1, l.rate = 2.4; }), 1);
    const contract::Result scheduled = drive(open, 90 * ms, window);
    EXPECT_NEAR(scheduled.inside->cycles, 2.4, 1e-3) << from;
    EXPECT_NEAR(scheduled.inside->due, 2.4, 1e-9) << from;
  }
}

TEST(Load, PartsAreThoseOfTheVectors) {
  const auto vectors = test::vectors("inside.json");
  ASSERT_GE(vectors.size(), 8U);
  for (const auto& vector : vectors) {
    const std::string name = vector.at("name");
    const Span window{vector.at("from_ns"), vector.at("to_ns")};
    Parts open;
    Parts drain;
    open.enter({.from = window.from}, true);
    drain.enter(window, false);
    double completed = 0;
    for (const auto& each : vector.at("exchanges")) {
      const bool drained = each[2].get<std::int64_t>() > window.to;
      completed += drained ? 0 : 1;
      (drained ? drain : open).add(each[0], each[1], each[2]);
    }
    const auto& want = vector.at("inside");
    EXPECT_NEAR(completed + open.exchanges() + drain.exchanges(), want.at("exchanges"), 2e-9) << name;
    EXPECT_NEAR(completed + open.cycles() + drain.cycles(), want.at("cycles"), 2e-9) << name;
    EXPECT_EQ(open.idle_ns() + drain.idle_ns(), want.at("idle_ns")) << name;
  }
}

TEST(Load, ReasonsAreThoseOfTheVectors) {
  const std::map<std::string, ErrorKind> kinds = {
      {"peer", ErrorKind::peer}, {"timeout", ErrorKind::timeout}, {"invalid", ErrorKind::invalid}};
  const auto vectors = test::vectors("reasons.json");
  ASSERT_GE(vectors.size(), 6U);
  for (const auto& vector : vectors) {
    Load load(setup_of([](contract::Load& l) { l.connections = 1; }), 1);
    load.start(1);
    load.open(2);
    Slot& slot = load.slots(0)[0];
    for (const auto& failure : vector.at("failures")) {
      for (int i = 0; i < failure.at("count").get<int>(); i++) {
        std::int64_t due = 0;
        ASSERT_TRUE(slot.next(3, due));
        slot.fail(kinds.at(failure.at("kind")), 4, failure.at("text").get<std::string>());
      }
    }
    const contract::Json body = contract::message(load.result(5)).at("result");
    EXPECT_EQ(body.value("reasons", contract::Json::array()), vector.at("reasons")) << vector.at("name");
  }
}

TEST(Load, SentIsThatOfTheVectors) {
  const auto vectors = test::vectors("sent.json");
  ASSERT_GE(vectors.size(), 6U);
  for (const auto& vector : vectors) {
    const auto slots = vector.at("slots").get<std::int64_t>();
    Load load(setup_of([&](contract::Load& l) { l.connections = slots; }), 1);
    load.start(1);
    std::int64_t now = 2;
    for (const auto& step : vector.at("steps")) {
      const auto what = step.at(0).get<std::string>();
      Slot& slot = load.slots(step.size() > 1 ? step.at(1).get<std::int64_t>() : 0)[0];
      std::int64_t due = 0;
      now++;
      if (what == "open") load.open(now);
      if (what == "close") load.end(now);
      if (what == "begin") ASSERT_TRUE(slot.next(now, due)) << vector.at("name");
      if (what == "out") slot.goes_out();
      if (what == "done") slot.done(now, now, 64);
      if (what == "fail") slot.fail(ErrorKind::peer, now);
    }
    contract::Result result = load.result(now + 1);
    result.sent = load.sent();
    EXPECT_EQ(contract::message(result).at("result").at("sent"), vector.at("sent")) << vector.at("name");
  }
}

TEST(Load, ARequestThatGoesOutAgainIsCountedOnceMore) {
  Load load(setup_of(), 1);
  load.start(1);
  load.open(2);
  Slot& slot = load.slots(0)[0];
  std::int64_t due = 0;
  ASSERT_TRUE(slot.next(3, due));
  for (int i = 0; i < 3; i++) slot.goes_out();
  slot.done(3, 4, 64);
  load.end(5);
  EXPECT_EQ(load.sent().window, 1);
  EXPECT_EQ(load.sent().again, 2);
}

TEST(Load, ARandomScheduleIsComparedWithWhatItDrew) {
  Load load(setup_of([](contract::Load& l) {
              l.connections = 1, l.rate = 50, l.arrival = contract::Arrival::poisson;
            }),
            1);
  const contract::Result result = drive(load, 1'000'000, {1'000'000'000, 3'000'000'000});
  EXPECT_NEAR(result.inside->cycles, result.inside->due, 0.5);
  EXPECT_GT(std::abs(result.inside->due - 100), 0.5) << "the draw is not the mean";
}

TEST(Load, LengthsAreThoseOfTheVectors) {
  const auto vectors = test::vectors("lengths.json");
  ASSERT_GE(vectors.size(), 8U);
  for (const auto& vector : vectors) {
    contract::Setup setup = setup_of([](contract::Load& l) { l.connections = 2; });
    setup.exchange.down_bytes = vector.at("down_bytes");
    Load load(setup, 2);
    std::int64_t connection = 0;
    const auto complete = [&](const char* phase, std::int64_t now) {
      for (const auto& length : vector.at(phase)) {
        Slot& slot = load.slots(connection++ % 2)[0];
        slot.done(now, now + 1, length);
      }
    };
    load.start(1);
    complete("before", 2);
    load.open(10);
    complete("window", 11);
    load.end(20);
    complete("drained", 21);
    Histogram want;
    if (!vector.at("values").is_null()) {
      for (const auto& each : vector.at("values")) want.record(each[0], each[1].get<std::int64_t>());
    }
    const contract::Json body = contract::message(load.result(30)).at("result");
    EXPECT_EQ(body.value("lengths", ""), want.encode()) << vector.at("name");
  }
}

TEST(Load, WithoutAWindowNothingFellInside) {
  Load load(setup_of(), 1);
  load.start(1'000);
  EXPECT_FALSE(load.result(2'000).inside);
}

TEST(Load, ASliceIsOfWhatCompletedSinceTheLast) {
  Load load(setup_of(), 2);
  const auto done = [&](std::int64_t connection, std::int64_t ns) {
    Slot& slot = load.slots(connection)[0];
    std::int64_t due = 0;
    ASSERT_TRUE(slot.next(1'000, due));
    slot.done(1'000, 1'000 + ns, 1);
  };
  load.start(1'000);
  done(0, 500);
  EXPECT_FALSE(load.slice()) << "before the window times are not recorded";
  load.open(2'000);
  for (int i = 0; i < 30; i++) {
    done(0, 200);
    done(1, 100);
  }
  const std::optional<contract::TickTimes> slice = load.slice();
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->count, 60);
  EXPECT_EQ(slice->p50_ns, 100);
  EXPECT_EQ(slice->p99_ns, 0) << "too few values lie beyond it";
  EXPECT_EQ(slice->max_ns, 200);
  EXPECT_FALSE(load.slice()) << "nothing completed meanwhile";
}

TEST(Load, SlicesOfALoopThatRunsMissNothing) {
  constexpr std::int64_t kExchanges = 20'000;
  Load load(setup_of(), 1);
  load.start(1'000);
  load.open(1'000);
  std::atomic<bool> over = false;
  std::thread loop([&] {
    Slot& slot = load.slots(0)[0];
    std::int64_t due = 0;
    for (std::int64_t i = 0; i < kExchanges && slot.next(2'000, due); i++) slot.done(2'000, 2'000 + i, 1);
    over = true;
  });
  std::int64_t seen = 0;
  bool last = false;
  while (!last) {
    last = over;
    if (const auto slice = load.slice()) seen += slice->count;
  }
  loop.join();
  EXPECT_EQ(seen, kExchanges);
}

TEST(Load, ThinkTimeIsStaggeredAndLagsAreKept) {
  Load load(setup_of([](auto& l) { l.think_ns = 1'000; }), 1);
  load.start(10'000);
  load.open(10'000);
  std::int64_t due = 0;
  ASSERT_TRUE(load.slots(0)[0].next(10'000, due));
  EXPECT_EQ(due, 10'000);
  ASSERT_TRUE(load.slots(1)[0].next(10'000, due));
  EXPECT_EQ(due, 10'500);
  load.slots(1)[0].done(10'510, 10'700, 64);
  ASSERT_TRUE(load.slots(1)[0].next(10'700, due));
  EXPECT_EQ(due, 11'700);
  const contract::Result result = load.result(11'000);
  EXPECT_EQ(result.lag, times({10}));
  EXPECT_EQ(result.response, "");
  EXPECT_EQ(result.unfinished, 1) << "slot 0; slot 1 was not due yet";
  EXPECT_EQ(result.ages, times({1'000}));
}

TEST(Load, OpenLoopKeepsItsScheduleAndItsBacklog) {
  Load load(setup_of([](auto& l) { l.rate = 1e6; }), 1);  // two slots: every 2 µs each
  load.start(100'000);
  load.open(100'000);
  Slot& slot = load.slots(0)[0];
  std::int64_t due = 0;
  ASSERT_TRUE(slot.next(100'000, due));
  EXPECT_EQ(due, 100'500);
  slot.done(100'600, 105'000, 64);  // a stall
  ASSERT_TRUE(slot.next(105'000, due));
  EXPECT_EQ(due, 102'500) << "the schedule did not wait";
  load.end(105'000);
  slot.done(105'000, 105'100, 64);
  ASSERT_TRUE(slot.next(105'100, due)) << "what fell due before the end is still sent";
  EXPECT_EQ(due, 104'500);
  const contract::Result result = load.result(110'000);
  EXPECT_EQ(result.service, times({4'400, 100}));
  EXPECT_EQ(result.response, times({4'500, 2'600}));
  EXPECT_EQ(result.lag, times({100, 2'500}));
  EXPECT_EQ(result.drained, 1);
  // In flight since 104.5 µs; slot 1 never asked: due at 101.5 and 103.5 µs.
  EXPECT_EQ(result.ages, times({5'500, 8'500, 6'500}));
}

TEST(Load, AmountIsSharedOutAndOpensItsOwnWindow) {
  Load load(setup_of([](auto& l) {
              l.amount = 7;
              l.in_flight = 3;
            }),
            2);
  load.start(500);
  int issued = 0;
  std::int64_t due = 0;
  for (std::int64_t connection = 0; connection < 2; connection++) {
    for (Slot& slot : load.slots(connection)) {
      while (slot.next(600, due)) {
        slot.done(600, 700, 64);
        issued++;
      }
    }
  }
  EXPECT_EQ(issued, 14);
  const contract::Result result = load.result(800);
  EXPECT_EQ(result.counts.exchanges, 14);
  EXPECT_EQ(result.from_ns, 500);
}

TEST(Load, MarkBeforeStartOpensAnAmountsWindow) {
  Load load(setup_of([](auto& l) { l.amount = 1; }), 1);
  load.open(400);
  load.start(500);
  EXPECT_EQ(load.result(600).from_ns, 400);
}

TEST(Load, WithoutAWindowNothingIsCountedInOne) {
  Load load(setup_of(), 1);
  load.start(0);
  std::int64_t due = 0;
  ASSERT_TRUE(load.slots(0)[0].next(10, due));
  load.slots(0)[0].done(10, 20, 64);
  const contract::Result result = load.result(100);
  EXPECT_EQ(result.counts.exchanges, 0);
  EXPECT_EQ(result.from_ns, result.to_ns);
}

TEST(Load, FailuresAreCountedByKindNotTimed) {
  Load load(setup_of(), 1);
  load.start(1);
  load.open(1);
  std::int64_t due = 0;
  ASSERT_TRUE(load.slots(0)[0].next(2, due));
  load.slots(0)[0].fail(ErrorKind::peer, 3);
  const contract::Result result = load.result(10);
  EXPECT_EQ(result.counts.errors[static_cast<std::size_t>(ErrorKind::peer)], 1);
  EXPECT_EQ(result.counts.exchanges, 0);
  EXPECT_EQ(result.service, "");
}

TEST(Load, PartsOfRepliesAreToldWhereSetupAsks) {
  for (const auto& [events, stages] : {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
    contract::Setup setup = setup_of();
    setup.events = events;
    setup.stages = stages;
    setup.exchange = {64, 250, "", contract::Stream::down, 100};
    Load load(setup, 1);
    Slot& slot = load.slots(0)[0];
    std::int64_t due = 0;
    load.start(1'000);
    load.open(1'000);
    ASSERT_TRUE(slot.next(1'000, due));
    slot.came(0, 0, 1'500);  // a head
    slot.came(0, 150, 2'000);
    slot.came(150, 199, 2'500);
    slot.came(199, 250, 3'000);  // the second, and the last, which is shorter
    slot.done(1'000, 3'000, 250);
    ASSERT_TRUE(slot.next(4'000, due));
    slot.came(0, 99, 4'300);
    slot.fail(ErrorKind::timeout, 4'700);
    ASSERT_TRUE(slot.next(4'700, due));
    slot.fail(ErrorKind::timeout, 4'900);
    ASSERT_TRUE(slot.next(5'000, due));
    load.end(6'000);
    slot.came(0, 100, 6'500);  // counted as drained
    slot.done(5'000, 7'000, 100);
    ASSERT_TRUE(load.slots(1)[0].next(5'500, due) == false) << "the load has ended";
    const contract::Result result = load.result(9'000);
    ASSERT_EQ(result.events.has_value(), events);
    ASSERT_EQ(result.stages.has_value(), stages);
    if (events) {
      EXPECT_EQ(result.events->count, 3);
      EXPECT_EQ(result.events->first, times({1'000, 1'500}));
      EXPECT_EQ(result.events->gaps, times({1'000, 0}));
      EXPECT_EQ(result.events->waiting, times({700, 200}));
    }
    if (stages) {
      EXPECT_EQ(result.stages->first_byte, times({500, 300, 1'500}));
      EXPECT_EQ(result.stages->waiting, times({200}));
    }
  }
}

/// What makes connections anew is told in the stretch in which it ended; how many sessions were
/// resumed, in the window alone.
TEST(Load, StagesOfConnectionsAreCountedByStretch) {
  contract::Setup setup = setup_of();
  setup.stages = true;
  Load load(setup, 1);
  Slot& slot = load.slots(0)[0];
  EXPECT_TRUE(slot.tells_stages());
  EXPECT_FALSE(Load(setup_of(), 1).slots(0)[0].tells_stages());
  load.start(1'000);
  slot.connected(10);
  slot.shook_hands(20, true);
  load.open(2'000);
  slot.connected(30);
  slot.shook_hands(40, true);
  slot.connected(50);
  slot.shook_hands(60, false);
  load.end(3'000);
  slot.connected(70);
  slot.shook_hands(80, true);
  const contract::Stages stages = load.result(4'000).stages.value();
  EXPECT_EQ(stages.connect, times({30, 50, 70}));
  EXPECT_EQ(stages.handshake, times({40, 60, 80}));
  EXPECT_EQ(stages.resumed, 1);
  EXPECT_EQ(stages.first_byte, "");
}

TEST(Load, AnExchangeWithoutAFirstByteWaitsAlsoForAnEvent) {
  contract::Setup setup = setup_of([](auto& l) { l.connections = 3; });
  setup.events = setup.stages = true;
  Load load(setup, 1);
  std::int64_t due = 0;
  load.start(1'000);
  load.open(1'000);
  ASSERT_TRUE(load.slots(0)[0].next(1'000, due));
  ASSERT_TRUE(load.slots(1)[0].next(2'000, due));
  load.slots(1)[0].came(0, 64, 2'500);  // a reply that travels whole is one event
  ASSERT_TRUE(load.slots(2)[0].next(3'000, due));
  load.slots(2)[0].came(0, 63, 3'500);
  const contract::Result result = load.result(4'000);
  EXPECT_EQ(result.events.value().waiting, times({3'000, 1'000}));
  EXPECT_EQ(result.events->count, 1);
  EXPECT_EQ(result.stages.value().waiting, times({3'000}));
}

TEST(Load, ActiveShareIsTheFirstConnections) {
  Load load(setup_of([](auto& l) {
              l.connections = 10;
              l.active_share = 0.25;
            }),
            1);
  EXPECT_EQ(load.active_connections(), 3);
  EXPECT_EQ(load.slots(2).size(), 1U);
  EXPECT_EQ(load.slots(3).size(), 0U);
}

TEST(Load, ContradictionsAreRefusedByKey) {
  const std::vector<std::pair<std::string, std::function<void(contract::Load&)>>> bad = {
      {"load.connections", [](auto& l) { l.connections = 0; }},
      {"load.connections", [](auto& l) { l.connections = 1LL << 40; }},
      {"load.in_flight", [](auto& l) { l.in_flight = 1LL << 40; }},
      {"load.in_flight", [](auto& l) { l.in_flight = -1; }},
      {"load.rate", [](auto& l) { l.rate = -1; }},
      {"load.rate", [](auto& l) { l.rate = 1e12; }},
      {"load.gather_ns", [](auto& l) { l.gather_ns = -1; }},
      {"load.active_share", [](auto& l) { l.active_share = 1.5; }},
      {"load.think_ns", [](auto& l) { l.rate = 5, l.think_ns = 5; }},
      {"load.think_ns", [](auto& l) { l.amount = -1; }},
  };
  for (const auto& [key, change] : bad) {
    try {
      const Load load(setup_of(change), 1);
      FAIL() << key << " accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::setup);
      EXPECT_TRUE(std::string(failure.what()).starts_with(key)) << failure.what();
    }
  }
}

}  // namespace
}  // namespace netdyno
