// Classes, times by size and recorded traffic by the vectors that Go runs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "flow_rig.h"
#include "kit/crc.h"
#include "kit/deadlines.h"
#include "kit/json.h"
#include "kit/load.h"
#include "vectors.h"

namespace netdyno {
namespace {

using contract::ErrorKind;
using contract::Failure;
using contract::Json;

/// A client's setup whose exchange is that of mix.json.
contract::Setup mixed(const Json& load, std::uint64_t seed) {
  Json with = load;
  with["connections"] = load.value("connections", 1);
  return contract::parse_setup({{"role", "client"},
                                {"seed", seed},
                                {"exchange", {{"up_bytes", 1024}, {"down_bytes", 1 << 20}}},
                                {"load", with}});
}

TEST(Mix, DrawsAreThoseOfTheVectors) {
  const Json vectors = test::vectors("mix.json");
  EXPECT_GE(vectors.at("draws").size(), 20U);
  for (const Json& v : vectors.at("draws")) {
    const Draw draw = Draws(mixed(vectors.at("load"), v.at("seed"))).of(v.at("number").get<std::uint64_t>());
    EXPECT_EQ(draw.of_class, v.at("class")) << v;
    EXPECT_EQ(draw.up, v.at("up_bytes")) << v;
    EXPECT_EQ(draw.down, v.at("down_bytes")) << v;
    EXPECT_EQ(draw.key, v.at("key")) << v;
  }
}

/// How long a slot pauses after an exchange of each class.
TEST(Mix, PausesAreThoseOfTheVectors) {
  const Json vectors = test::vectors("think.json");
  EXPECT_GE(vectors.at("cases").size(), 2U);
  const auto setup_of = [](const Json& load, std::uint64_t seed) {
    Json with = load;
    with["connections"] = load.value("connections", 1);
    return contract::parse_setup(
        {{"role", "client"}, {"seed", seed}, {"exchange", {{"down_bytes", 300}}}, {"load", with}});
  };
  for (const Json& v : vectors.at("cases")) {
    Load load(setup_of(v.at("load"), v.at("seed")), 1);
    constexpr std::int64_t kStart = 1'000'000'000;
    load.start(kStart);
    std::int64_t number = 0;
    for (const Json& exchanges : v.at("slots")) {
      Slot& slot = load.slots(number++)[0];
      std::int64_t now = kStart;
      for (const Json& want : exchanges) {
        std::int64_t due = 0;
        ASSERT_TRUE(slot.next(now, due));
        EXPECT_EQ(slot.draw().of_class, want.at(0)) << want;
        ASSERT_EQ(due - kStart, want.at(1)) << want;
        now = due + v.at("service_ns").get<std::int64_t>();
        slot.goes_out();
        slot.done(due, now, slot.draw().down);
      }
    }
  }
  for (const Json& v : vectors.at("refused"))
    EXPECT_THROW(Load(setup_of(v.at("load"), 1), 1), Failure) << v.at("name");
}

/// On a wire that returns what it is sent, both directions have one draw.
TEST(Mix, AnEchoIsAsLongAsItsRequest) {
  contract::Setup setup;
  setup.role = contract::Role::client;
  setup.seed = 9;
  setup.exchange.up_bytes = setup.exchange.down_bytes = 5'000;
  setup.exchange.up_sizes = setup.exchange.down_sizes = {{1LL << 31, 10, 10}, {1LL << 32, 5'000, 5'000}};
  setup.load.connections = 1;
  Load load(setup, 1);
  load.echoes();
  load.start(1);
  Slot& slot = load.slots(0)[0];
  for (int i = 0; i < 200; i++) {
    std::int64_t due = 0;
    ASSERT_TRUE(slot.next(1, due));
    EXPECT_EQ(slot.draw().up, slot.draw().down);
    slot.done(1, 2, slot.draw().up);
  }
}

TEST(Mix, RefusesWhatTheVectorsRefuse) {
  const Json refused = test::vectors("mix.json").at("refused");
  EXPECT_GE(refused.size(), 8U);
  for (const Json& v : refused) {
    try {
      Load(mixed(v.at("load"), 1), 1);
      ADD_FAILURE() << v.at("name") << ": accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::setup) << v.at("name");
    }
  }
}

/// What completes is counted by class, and all classes together are the result.
TEST(Mix, ClassesAddUpToTheResult) {
  const contract::Setup setup = mixed(test::vectors("mix.json").at("load"), 71);
  for (const int shards : {1, 2}) {
    Load load(setup, shards);
    load.start(1);
    load.open(2);
    std::vector<std::int64_t> want(setup.load.classes.size());
    std::int64_t failed = 0;
    for (int i = 0; i < 400; i++) {
      Slot& slot = load.slots(i % 4)[0];
      std::int64_t due = 0;
      ASSERT_TRUE(slot.next(3, due));
      slot.goes_out();
      if (i % 40 == 39) {
        slot.fail(ErrorKind::timeout, 4);
        failed++;
        continue;
      }
      want[static_cast<std::size_t>(slot.draw().of_class)]++;
      slot.done(3, 1003, slot.draw().down);
    }
    const contract::Result result = load.result(5000);
    ASSERT_EQ(result.classes.size(), want.size());
    contract::ClassResult sum;
    for (std::size_t i = 0; i < want.size(); i++) {
      const contract::ClassResult& of = result.classes[i];
      EXPECT_EQ(of.exchanges, want[i]) << of.name;
      EXPECT_EQ(of.service.empty(), want[i] == 0) << of.name;
      EXPECT_TRUE(of.response.empty()) << "a closed loop";
      sum.exchanges += of.exchanges;
      sum.sent_bytes += of.sent_bytes;
      sum.received_bytes += of.received_bytes;
      sum.errors += of.errors;
    }
    EXPECT_EQ(sum.exchanges, result.counts.exchanges);
    EXPECT_EQ(sum.sent_bytes, result.counts.sent_bytes);
    EXPECT_EQ(sum.received_bytes, result.counts.received_bytes);
    EXPECT_EQ(sum.errors, failed);
    std::size_t bins = 0;
    for (const contract::SizeBin& bin : result.bins) {
      EXPECT_TRUE(bin.response.empty() && bin.behind.empty() && bin.free.empty());
      EXPECT_FALSE(bin.service.empty());
      bins++;
    }
    EXPECT_GE(bins, 3U);
    const Json body = contract::message(result).at("result");
    EXPECT_EQ(body.at("classes").size(), want.size());
    EXPECT_EQ(body.at("bins").size(), bins);
  }
}

TEST(Bins, AreThoseOfTheVectors) {
  const Json vectors = test::vectors("bins.json");
  EXPECT_GE(vectors.at("bins").size(), 8U);
  for (const Json& v : vectors.at("bins")) {
    SizedTimes times(v.at("bytes"), 0, false, true);
    times.record({bin_of(v.at("bytes")), 0, 1, 1, 2}, nullptr);
    const auto bins = times.bins();
    ASSERT_EQ(bins.size(), 1U) << v;
    EXPECT_EQ(bins[0].from_bytes, v.at("from_bytes")) << v;
    EXPECT_EQ(bins[0].to_bytes, v.at("to_bytes")) << v;
  }
}

TEST(Bins, WaitingIsThatOfTheVectors) {
  const Json all = test::vectors("bins.json").at("waiting");
  EXPECT_GE(all.size(), 8U);
  for (const Json& v : all) {
    for (const bool completed : {true, false}) {
      const int bin = bin_of(v.at("bytes"));
      Waits waits(1 + v.at("others").size());
      std::size_t slot = 1;
      for (const Json& other : v.at("others")) {
        waits.begin(slot, bin_of(other.at(0)), other.at(1));
        // What had ended before the small one was sent is known as completed alone.
        if (completed || other.at(2) < v.at("sent")) waits.end(slot, {other.at(1), other.at(2)});
        slot++;
      }
      EXPECT_EQ(waits.behind(bin, v.at("due"), v.at("sent")), v.at("behind").get<bool>())
          << v.at("name") << (completed ? ", completed" : ", in flight");
    }
  }
}

/// Small exchanges are behind a large one of their connection where they were due while that was
/// in flight.
TEST(Bins, SmallExchangesAreBehindLargeOnesOfTheirConnection) {
  constexpr std::int64_t kGap = 1'000'000;
  contract::Setup setup;
  setup.role = contract::Role::client;
  setup.seed = 3;
  setup.exchange.up_bytes = 10;
  setup.exchange.down_bytes = 1 << 20;
  setup.exchange.down_sizes = {{1LL << 31, 100, 100}, {1LL << 32, 1 << 20, 1 << 20}};
  setup.load.connections = 1;
  setup.load.rate = 1e9 / kGap;
  Load load(setup, 1);
  load.start(1);
  load.open(1);
  Slot& slot = load.slots(0)[0];
  std::int64_t free = 0;
  InFlight last;
  Histogram behind;
  Histogram alone;
  for (int i = 0; i < 400; i++) {
    std::int64_t due = 0;
    ASSERT_TRUE(slot.next(1, due));
    const std::int64_t sent = std::max(due, free);
    const bool large = slot.draw().down > 100;
    free = sent + (large ? 3 * kGap : 10'000);
    if (large) {
      last = {sent, free};
    } else {
      (due <= last.to && last.from <= sent ? behind : alone).record(free - due);
    }
    slot.done(sent, free, slot.draw().down);
  }
  const auto bins = load.result(free).bins;
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_EQ(bins[0].from_bytes, 64);
  EXPECT_EQ(bins[0].behind, behind.encode());
  EXPECT_EQ(bins[0].free, alone.encode());
  EXPECT_FALSE(bins[0].service.empty() || bins[0].response.empty());
  EXPECT_TRUE(bins[1].behind.empty() && bins[1].free.empty());
}

/// A file of recorded traffic, which the test writes as the contract says.
class RecordedTest : public testing::Test {
 protected:
  void SetUp() override { file_ = testing::TempDir() + "/recorded-" + std::to_string(::getpid()); }
  void TearDown() override { std::remove(file_.c_str()); }

  static std::string little(std::uint64_t value, int size) {
    std::string out;
    for (int i = 0; i < size; i++) out += static_cast<char>(value >> (8 * i));
    return out;
  }
  static std::string leb(std::uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    return out + static_cast<char>(value);
  }
  static std::string block(const std::vector<std::array<std::uint64_t, 5>>& requests) {
    std::string content;
    std::uint64_t span = 0;
    for (const auto& request : requests) {
      span += request[0];
      for (const std::uint64_t value : request) content += leb(value);
    }
    const std::string head = little(requests.size(), 4) + little(content.size(), 4) + little(span, 8);
    return head + little(crc32c({content.data(), content.size()}, crc32c({head.data(), head.size()})), 4) +
           content;
  }
  /// Two blocks of requests at 0, 10, 20, 50 and 90 µs.
  static std::string body() {
    const std::string paths = "/a\n/b\n";
    const std::string head = little(2, 4) + little(paths.size(), 4);
    return "NDTRAF1\n" + head +
           little(crc32c({paths.data(), paths.size()}, crc32c({head.data(), head.size()})), 4) + paths +
           block({{0, 0, 1, 100, 1}, {10'000, 1, 500, 0, 0}, {10'000, 0, 3, 40, 2}}) +
           block({{30'000, 1, 0, 900, 0}, {40'000, 0, 0, 7, 2}}) + block({});
  }
  contract::Setup setup(const std::string& content, double speed = 1) {
    std::ofstream(file_, std::ios::binary) << "header\n" << content;
    contract::Setup setup;
    setup.role = contract::Role::client;
    setup.exchange.up_bytes = 500;
    setup.exchange.down_bytes = 900;
    setup.load.connections = 2;
    setup.load.rate = 1;
    setup.load.arrival = contract::Arrival::recorded;
    setup.load.classes = {{.name = "a", .up_bytes = 3, .down_bytes = 100},
                          {.name = "b", .up_bytes = 500, .down_bytes = 900}};
    setup.load.trace = contract::Trace{.file = file_, .begins = 7, .speed = speed};
    return setup;
  }
  std::string file_;
};

TEST_F(RecordedTest, IsReplayedInOrderAndBeginsAgain) {
  contract::Setup of = setup(body(), 2);
  of.load.trace->from_ns = 5'000;
  const Draws draws(of);
  EXPECT_EQ(draws.of(0).up, 500);
  EXPECT_EQ(draws.of(1).down, 40);
  EXPECT_EQ(draws.path(draws.of(1)), "/b");
  Replay replay(*of.load.trace, draws);
  replay.begin();
  // After 90 µs a gap of 90 / 4 µs, and the first again.
  for (const std::int64_t at : {5'000, 15'000, 45'000, 85'000, 107'500, 117'500, 127'500, 157'500}) {
    EXPECT_EQ(replay.take().at_ns, at / 2);
  }
  EXPECT_NEAR(replay.due_in({0, 45'000 / 2}), 3, 1e-9);
  replay.finish();
}

TEST_F(RecordedTest, PartsTakeRequestsInTurn) {
  contract::Setup of = setup(body());
  of.load.trace->parts = 2;
  of.load.trace->part = 1;
  of.load.trace->even = true;
  of.exchange.up_bytes = 900;
  const Draws draws(of);
  Replay replay(*of.load.trace, draws);
  replay.begin();
  for (const auto& [at, bytes] : {std::pair{10'000, 500}, {50'000, 900}, {112'500, 100}}) {
    const Due due = replay.take();
    EXPECT_EQ(due.at_ns, at);
    EXPECT_EQ(due.draw.up, bytes);
    EXPECT_EQ(due.draw.down, bytes);
  }
}

/// Several loops take requests at once, over the end of many blocks: each is given out once.
TEST_F(RecordedTest, SeveralLoopsTakeEachRequestOnce) {
  const contract::Setup of = setup(body());
  const Draws draws(of);
  Replay replay(*of.load.trace, draws);
  replay.begin();
  constexpr std::size_t kEach = 40'000;
  std::array<std::vector<std::int64_t>, 3> taken;
  run_all(
      taken.size(),
      [&](std::size_t i) {
        while (taken[i].size() < kEach) taken[i].push_back(replay.take().at_ns);
      },
      [] {});
  std::vector<std::int64_t> all;
  for (const auto& some : taken) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  Replay again(*of.load.trace, draws);
  again.begin();
  for (const std::int64_t at : all) ASSERT_EQ(at, again.take().at_ns);
}

TEST_F(RecordedTest, TheFreeSlotTakesTheNextRequest) {
  const contract::Setup of = setup(body());
  Load load(of, 2);
  constexpr std::int64_t kStart = 1'000;
  load.start(kStart);
  load.open(kStart);
  std::int64_t due = 0;
  ASSERT_TRUE(load.slots(0)[0].next(kStart, due));
  EXPECT_EQ(due, kStart);
  EXPECT_EQ(load.slots(0)[0].draw().down, 100);
  ASSERT_TRUE(load.slots(1)[0].next(kStart, due));
  EXPECT_EQ(due, kStart + 10'000);
  load.slots(1)[0].done(due, due + 5, 0);
  ASSERT_TRUE(load.slots(1)[0].next(due + 5, due));
  EXPECT_EQ(due, kStart + 20'000);
  load.slots(1)[0].done(due, due + 5, 40);
  load.end(kStart + 60'000);
  const contract::Result result = load.result(kStart + 70'000);
  EXPECT_EQ(result.counts.exchanges, 2);
  EXPECT_EQ(result.counts.sent_bytes, 503);
  EXPECT_EQ(result.unfinished, 2) << "the first, and the one at 50 µs that nobody took";
  ASSERT_EQ(result.classes.size(), 2U);
  EXPECT_EQ(result.classes[1].exchanges, 1);
}

/// Of times alone request n says when exchange n is due, whichever slot takes it, and what it carries is
/// drawn.
TEST_F(RecordedTest, TimesDrawWhatComes) {
  for (const bool mixes : {true, false}) {
    contract::Setup of = setup(body(), 2);
    of.load.trace->times = true;
    of.load.classes[0].end = 1LL << 31;
    of.load.classes[1].end = 1LL << 32;
    if (!mixes) of.load.classes.clear();
    Load load(of, 2);
    constexpr std::int64_t kStart = 1'000;
    load.start(kStart);
    load.open(kStart);
    std::uint64_t n = 0;
    for (const std::int64_t at : {0, 10'000, 20'000, 50'000, 90'000, 112'500, 122'500, 132'500}) {
      Slot& slot = load.slots(n % 3 == 0 ? 1 : 0)[0];
      std::int64_t due = 0;
      ASSERT_TRUE(slot.next(kStart, due));
      EXPECT_EQ(due, kStart + at / 2);
      const Draw want = mixes ? Draws(of).of(n) : Draw{};
      EXPECT_EQ(slot.draw().of_class, want.of_class);
      EXPECT_EQ(slot.draw().up, want.up);
      EXPECT_EQ(slot.draw().down, want.down);
      slot.goes_out();
      slot.done(due, due + 5, mixes ? want.down : 900);
      n++;
    }
    load.end(kStart + 70'000);
    const contract::Result result = load.result(kStart + 80'000);
    EXPECT_EQ(result.counts.exchanges, 8);
    EXPECT_EQ(result.counts.sent_bytes,
              mixes ? result.classes[0].sent_bytes + result.classes[1].sent_bytes : 8 * 500);
    EXPECT_EQ(result.bins.empty(), !mixes);
  }
}

TEST_F(RecordedTest, SaysWhatIsDamaged) {
  const std::string good = body();
  for (std::size_t i = 0; i < good.size(); i++) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const contract::Setup of = setup(bad);
    try {
      const Recording recording(file_, 7);
      for (RecordingReader reader(recording, 0); reader.next();) {
      }
      ADD_FAILURE() << "byte " << i << " may change";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::setup);
      EXPECT_NE(std::string(failure.what()).find("damaged at byte"), std::string::npos) << failure.what();
    }
    std::ofstream(file_, std::ios::binary) << "header\n" << good.substr(0, i);
    EXPECT_THROW(Recording(file_, 7), Failure) << i;
  }
}

TEST_F(RecordedTest, AFailureOfReadingEndsTheTrial) {
  const contract::Setup of = setup(body());
  Load load(of, 1);
  std::string bad = body();
  bad[bad.size() - 25] ^= 1;  // the content of the last block, which nobody has read yet
  std::ofstream(file_, std::ios::binary) << "header\n" << bad;
  load.start(1);
  load.open(1);
  Slot& slot = load.slots(0)[0];
  std::int64_t due = 0;
  int requests = 0;
  for (; slot.next(1, due) && due < kNeverDue; requests++) slot.done(due, due, 1);
  EXPECT_EQ(requests, 3);
  EXPECT_THROW(load.result(2), Failure);
}

TEST_F(RecordedTest, RefusesWhatItCannotReplay) {
  const auto refused = [this](auto change) {
    contract::Setup of = setup(body());
    change(of);
    try {
      Load(of, 1);
    } catch (const Failure& failure) {
      return std::string(contract::name(failure.kind())) + ": " + failure.what();
    }
    return std::string("accepted");
  };
  EXPECT_NE(refused([](auto& s) { s.load.trace->speed = 0; }).find("setup: load.trace.speed is 0"),
            std::string::npos);
  EXPECT_NE(refused([](auto& s) { s.load.trace->part = 1; }).find("expected one of them"), std::string::npos);
  EXPECT_NE(refused([](auto& s) { s.load.classes.clear(); }).find("without load.classes"), std::string::npos);
  EXPECT_NE(refused([](auto& s) { s.load.trace->file = "/nowhere"; }).find("open /nowhere"),
            std::string::npos);
  EXPECT_NE(refused([](auto& s) { s.load.trace->file = "/dev"; }).find("no regular file"), std::string::npos);
  EXPECT_NE(refused([](auto& s) { s.load.trace->from_ns = 91'000; }).find("nothing is left"),
            std::string::npos);
  EXPECT_NE(refused([](auto& s) { s.exchange.down_bytes = 899; }).find("at most"), std::string::npos);
}

TEST(Deadlines, GoOffForTheExchangeThatIsUnderWay) {
  Agenda agenda;
  agenda.hold(1);
  Deadlines deadlines(7, 1, agenda);
  deadlines.begin(0, 100);
  EXPECT_EQ(agenda.next_due(), 100);
  EXPECT_EQ(agenda.in_flight(), 1U);
  EXPECT_EQ(agenda.take().slot, 0 | Agenda::kAlarm);
  EXPECT_TRUE(deadlines.expired(0, 100));

  deadlines.begin(0, 200);
  deadlines.end(0);
  deadlines.begin(0, 300);  // the alarm at 200 comes first, and becomes one at 300
  EXPECT_EQ(agenda.take().due, 200);
  EXPECT_FALSE(deadlines.expired(0, 200));
  EXPECT_EQ(agenda.next_due(), 300);
  agenda.end(250);
  EXPECT_EQ(agenda.next_due(), 300) << "a deadline holds after the closing";
  EXPECT_EQ(agenda.held(), 1U);
  agenda.forget(7);
  EXPECT_EQ(agenda.next_due(), Agenda::kNever);
  EXPECT_EQ(agenda.held(), 1U);
}

TEST(Deadlines, SaysHowLongTheyAre) {
  EXPECT_EQ(late_text(0), "no reply within the deadline of 0 ns");
  EXPECT_EQ(late_text(50'000'000), "no reply within the deadline of 50.0 ms");
  EXPECT_EQ(late_text(1'000'000'000), "no reply within the deadline of 1.00 s");
  EXPECT_EQ(late_text(9'996), "no reply within the deadline of 10.0 µs");
  EXPECT_EQ(late_text(999'600), "no reply within the deadline of 1.00 ms");
  EXPECT_EQ(late_text(90'000'000'000), "no reply within the deadline of 90.0 s");
}

}  // namespace
}  // namespace netdyno
