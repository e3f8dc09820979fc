// A load that takes turns with others, and one that is counted in parts (CONTRACT.md, section Turns).
#include "kit/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "kit/json.h"
#include "kit/load.h"
#include "vectors.h"

namespace netdyno {
namespace {

using contract::ErrorKind;
using contract::Failure;
using contract::Json;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 5'000 * kMs;
/// 300 ms in all.
const std::vector<std::array<std::int64_t, 2>> kTurns = {
    {100 * kMs, 200 * kMs}, {500 * kMs, 650 * kMs}, {650 * kMs, 700 * kMs}};

contract::Setup turning(const std::function<void(contract::Load&)>& change = [](auto&) {}) {
  contract::Setup setup;
  setup.exchange = {64, 64, ""};
  setup.load.connections = 1;
  change(setup.load);
  return setup;
}

/// n values of ns each, encoded.
std::string alike(std::int64_t ns, std::int64_t n) {
  Histogram h;
  h.record(ns, n);
  return h.encode();
}

bool in_turn(std::int64_t due) {
  return std::any_of(kTurns.begin(), kTurns.end(),
                     [due](const auto& turn) { return kStart + turn[0] <= due && due < kStart + turn[1]; });
}

TEST(Turns, MapTheirTimePutEndToEnd) {
  contract::Load load;
  EXPECT_EQ(Turns::of(load), nullptr);
  load.turns = kTurns;
  const auto turns = Turns::of(load);
  const Json vectors = test::vectors("turns.json");
  const auto want = [](const Json& at) { return at.is_null() ? kNeverDue : at.get<std::int64_t>(); };
  ASSERT_EQ((vectors.at("turns").get<std::vector<std::array<std::int64_t, 2>>>()), kTurns);
  for (const Json& pair : vectors.at("due")) {
    EXPECT_EQ(turns->due_ns(pair[0].get<std::int64_t>()), want(pair[1])) << pair;
  }
  for (const Json& pair : vectors.at("next")) {
    EXPECT_EQ(turns->next(pair[0].get<std::int64_t>()), want(pair[1])) << pair;
  }
  for (const Json& bad : vectors.at("refused")) {
    load.turns = bad.get<std::vector<std::array<std::int64_t, 2>>>();
    EXPECT_THROW(Turns::of(load), Failure) << bad;
  }
}

TEST(Turns, AClosedLoopBeginsInsideThem) {
  for (const std::int64_t think : {std::int64_t{0}, 3 * kMs}) {
    Load load(turning([&](auto& l) { l.turns = kTurns, l.think_ns = think; }), 1);
    Slot& slot = load.slots(0)[0];
    load.start(kStart);
    load.open(kStart);
    std::int64_t now = kStart;
    std::int64_t due = 0;
    int made = 0;
    while (slot.next(now, due) && due < kStart + kNeverDue) {
      ASSERT_TRUE(in_turn(due)) << due - kStart;
      if (now + think < kStart + 100 * kMs) {
        EXPECT_EQ(due, kStart + 100 * kMs);
      }
      if (in_turn(now + think)) {
        EXPECT_EQ(due, now + think);
      }
      now = std::max(now, due) + 7 * kMs;
      slot.done(now - 7 * kMs, now, 64);
      made++;
    }
    EXPECT_EQ(due, kStart + kNeverDue);
    EXPECT_EQ(made, think == 0 ? 15 + 29 : 10 + 20);
    load.end(now + kMs);
    EXPECT_FALSE(slot.next(now + kMs, due)) << "the load has ended";
    const contract::Result result = load.result(now + 2 * kMs);
    EXPECT_EQ(result.counts.exchanges, made);
    EXPECT_EQ(result.unfinished, 0) << "it waited for a turn that never came";
    EXPECT_FALSE(result.inside);
  }
}

TEST(Turns, AnOpenLoopKeepsItsRhythmAcrossThem) {
  constexpr std::int64_t kSlots = 3;
  constexpr double kRate = 10'000;
  Load load(turning([](auto& l) { l.turns = kTurns, l.connections = kSlots, l.rate = kRate; }), 1);
  load.start(kStart);
  load.open(kStart);
  const std::int64_t closing = kStart + 600 * kMs;
  std::vector<std::int64_t> all;
  std::int64_t due = 0;
  for (std::int64_t i = 0; i < kSlots; i++) {
    Slot& slot = load.slots(i)[0];
    while (slot.next(kStart, due) && due < closing) {
      slot.done(due, due + 50, 64);
      all.push_back(due - kStart);
    }
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 2'000U);
  for (std::size_t i = 0; i < all.size(); i++) {
    const std::int64_t place = static_cast<std::int64_t>(i) * 100'000 + 50'000;
    ASSERT_NEAR(static_cast<double>(all[i]),
                static_cast<double>(place + (place < 100 * kMs ? 100 * kMs : 400 * kMs)), 1);
  }
  // What is due before the closing is sent or left unfinished, and of the gaps nothing.
  load.end(closing + 1 * kMs);
  const contract::Result result = load.result(closing + 2 * kMs);
  EXPECT_EQ(result.counts.exchanges, 2'000);
  EXPECT_EQ(result.unfinished, 10);
  EXPECT_EQ(result.response, alike(50, 2'000));
  EXPECT_FALSE(result.inside || result.arrivals);
}

TEST(Turns, AFreeSlotTakesTheNextDue) {
  Load load(turning([](auto& l) { l.turns = {{0, 1'000 * kMs}}, l.connections = 2, l.rate = 100; }), 1);
  load.start(kStart);
  std::int64_t due = 0;
  ASSERT_TRUE(load.slots(0)[0].next(kStart, due));  // and is busy from then on
  Slot& slot = load.slots(1)[0];
  for (std::int64_t n = 1; n < 50; n++) {
    ASSERT_TRUE(slot.next(due, due));
    ASSERT_EQ(due, kStart + 5 * kMs + n * 10 * kMs);
    slot.done(due, due + kMs, 64);
  }
}

TEST(Turns, NothingFallsDueAfterTheLast) {
  for (const auto arrival : {contract::Arrival::constant, contract::Arrival::poisson}) {
    Load load(turning([&](auto& l) { l.turns = kTurns, l.rate = 1'000, l.arrival = arrival; }), 1);
    load.start(kStart);
    load.open(kStart);
    Slot& slot = load.slots(0)[0];
    std::int64_t due = 0;
    std::int64_t made = 0;
    for (; slot.next(kStart, due) && due < kStart + kNeverDue; made++) {
      ASSERT_TRUE(in_turn(due));
      slot.done(due, due, 64);
    }
    EXPECT_EQ(due, kStart + kNeverDue);
    if (arrival == contract::Arrival::constant) {
      EXPECT_EQ(made, 300);
    }
    load.end(kStart + 9'000 * kMs);
    EXPECT_EQ(load.result(kStart + 9'000 * kMs).unfinished, 0);
  }
}

TEST(Turns, AreRefusedWhereTheyCannotBe) {
  const std::vector<std::pair<ErrorKind, std::function<void(contract::Load&)>>> bad = {
      {ErrorKind::setup,
       [](auto& l) {
         l.turns = {{-1, 5}};
       }},
      {ErrorKind::setup,
       [](auto& l) {
         l.turns = {{5, 5}};
       }},
      {ErrorKind::setup,
       [](auto& l) {
         l.turns = {{0, 5}, {4, 9}};
       }},
      {ErrorKind::setup,
       [](auto& l) {
         l.turns = {{0, INT64_MAX}};
       }},
      {ErrorKind::unsupported, [](auto& l) { l.turns = kTurns, l.amount = 5; }},
  };
  for (const auto& [kind, change] : bad) {
    contract::Load load;
    change(load);
    try {
      Turns::of(load);
      FAIL() << "accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), kind) << failure.what();
      EXPECT_NE(std::string(failure.what()).find("load.turns"), std::string::npos) << failure.what();
    }
  }
}

TEST(Turns, AreReadAsPairs) {
  const auto read = [](const contract::Json& turns) {
    return contract::parse_setup({{"role", "client"}, {"load", {{"turns", turns}}}}).load.turns;
  };
  EXPECT_EQ(read({{0, 5}, {7, 9}}), (std::vector<std::array<std::int64_t, 2>>{{0, 5}, {7, 9}}));
  const contract::Json pair = {0, 5};
  for (const contract::Json& wrong :
       {contract::Json("x"), contract::Json::array({1, 2}), contract::Json::array({{1, 2, 3}}),
        contract::Json::array({{0.5, 2}}), contract::Json(contract::kMostTurns + 1, pair)}) {
    EXPECT_THROW(read(wrong), Failure) << wrong.dump().substr(0, 60);
  }
  const auto mark = contract::parse_mark({{"id", 7}, {"part", true}, {"keep", true}});
  const contract::Json answer = contract::message(mark, {}).at("mark");
  EXPECT_TRUE(answer.at("part") && answer.at("keep"));
  EXPECT_FALSE(answer.contains("reset"));
}

/// Makes one exchange that takes so long and completes at now.
void complete(Load& load, std::int64_t connection, std::int64_t now, std::int64_t takes,
              std::int64_t bytes = 64) {
  std::int64_t due = 0;
  Slot& slot = load.slots(connection)[0];
  ASSERT_TRUE(slot.next(now, due));
  slot.goes_out();
  slot.done(now - takes, now, bytes);
}

TEST(Parts, SumToTheWhole) {
  Load load(turning([](auto& l) { l.connections = 2; }), 2);
  load.start(kStart);
  complete(load, 0, kStart + 10, 5);
  EXPECT_THROW(load.part(kStart + 20), Failure) << "no window is open";
  load.open(kStart + 20);
  for (int i = 0; i < 3; i++) complete(load, i % 2, kStart + 30 + i, 100);
  std::int64_t due = 0;
  Slot& late = load.slots(1)[0];
  ASSERT_TRUE(late.next(kStart + 40, due));
  late.goes_out();
  load.part(kStart + 50);
  EXPECT_EQ(load.snapshot().exchanges, 4);
  late.done(kStart + 40, kStart + 60, 64);  // begun in one part, and counted in the next
  complete(load, 0, kStart + 70, 200, 17);
  load.slots(0)[0].fail(ErrorKind::peer, kStart + 80, "gone");
  load.part(kStart + 90);
  EXPECT_EQ(load.snapshot().exchanges, 6);
  EXPECT_EQ(load.slice()->count, 5);
  for (int i = 0; i < 2; i++) complete(load, i, kStart + 100, 300);

  const auto first = load.closed_part();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->from_ns, kStart + 20);
  EXPECT_EQ(first->to_ns, kStart + 50);
  EXPECT_EQ(first->counts.exchanges, 3);
  EXPECT_EQ(first->counts.sent_bytes, 3 * 64);
  EXPECT_EQ(first->service, alike(100, 3));
  EXPECT_EQ(first->lengths, "");
  EXPECT_TRUE(first->reasons.empty());
  EXPECT_EQ(load.slice()->count, 2) << "what was read is not told again";
  const auto second = load.closed_part();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->from_ns, kStart + 50);
  EXPECT_EQ(second->counts.exchanges, 2);
  EXPECT_EQ(second->counts.received_bytes, 64 + 17);
  EXPECT_EQ(second->counts.error_sum(), 1);
  ASSERT_EQ(second->reasons.size(), 1U);
  EXPECT_EQ(second->reasons[0].text, "gone");
  EXPECT_NE(second->lengths, "");
  EXPECT_FALSE(second->inside || second->sent || second->arrivals);
  EXPECT_FALSE(load.slice());

  ASSERT_TRUE(late.next(kStart + 110, due));
  load.end(kStart + 120);
  EXPECT_THROW(load.part(kStart + 121), Failure) << "it has ended";
  late.done(kStart + 110, kStart + 130, 64);
  EXPECT_EQ(load.counts().exchanges, 9);
  EXPECT_EQ(load.snapshot().exchanges, 8);
  const contract::Result last = load.result(kStart + 200);
  EXPECT_EQ(last.from_ns, kStart + 90);
  EXPECT_EQ(last.counts.exchanges, 2);
  EXPECT_EQ(last.drained, 1);
  EXPECT_TRUE(last.reasons.empty());
  EXPECT_EQ(last.lengths, "");
  EXPECT_TRUE(last.inside);
  EXPECT_EQ(load.sent().window, 3 + 2 + 2) << "the failed one never went out";
}

TEST(Parts, AgreeWithThemselvesWhileALoopCounts) {
  Load load(turning([](auto& l) { l.connections = 2; }), 2);
  load.start(kStart);
  load.open(kStart);
  std::atomic<bool> over = false;
  std::atomic<std::int64_t> made = 0;
  const auto loop = [&](std::int64_t connection) {
    std::int64_t due = 0;
    for (Slot& slot = load.slots(connection)[0]; !over && slot.next(kStart, due); made++)
      slot.done(kStart, kStart + 100, made % 100 == 0 ? 65 : 64);
  };
  std::thread one(loop, 0);
  std::thread other(loop, 1);
  std::int64_t told = 0;
  for (int part = 1; part <= 10; part++) {
    load.part(kStart + part);
    std::optional<contract::Result> result;
    while (!result) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(Load::kSettlesNs));
      result = load.closed_part();
    }
    EXPECT_EQ(result->service, alike(100, result->counts.exchanges));
    told += result->counts.exchanges;
  }
  over = true;
  one.join();
  other.join();
  EXPECT_EQ(told + load.result(kStart + 20).counts.exchanges, made);
}

}  // namespace
}  // namespace netdyno
