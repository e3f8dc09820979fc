#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kit/agenda.h"
#include "kit/echo.h"
#include "kit/random.h"

namespace netdyno {
namespace {

contract::Setup setup_of(std::int64_t bytes, std::int64_t in_flight) {
  contract::Setup setup;
  setup.seed = 11;
  setup.exchange = {bytes, bytes, ""};
  setup.load.connections = 1;
  setup.load.in_flight = in_flight;
  return setup;
}

/// A pipeline of one connection with all that it needs.
struct Rig {
  explicit Rig(const contract::Setup& setup)
      : payload(setup), load(setup, 1), pipeline(payload, Flights(0, load.slots(0), agenda)) {
    load.start(1);
    load.open(1);
  }
  EchoPayload payload;
  Load load;
  Agenda agenda;
  Pipeline pipeline;
};

TEST(Pipeline, SurvivesEveryCutOfItsStream) {
  for (const std::int64_t bytes : {1, 3, 100, 30'000, 70'000}) {
    for (const std::int64_t in_flight : {1, 3, 16}) {
      Rig rig(setup_of(bytes, in_flight));
      std::uint64_t random = 5;
      std::int64_t now = 10;
      std::string wire;
      std::string message(rig.payload.copies().data(), static_cast<std::size_t>(bytes));
      std::uint64_t position = 0;
      rig.pipeline.begin(now);
      for (int step = 0; step < 400; step++, now++) {
        while (rig.pipeline.unsent() && split_mix(random) % 3 != 0) {
          const auto out = rig.pipeline.outgoing(now);
          ASSERT_FALSE(out.empty());
          const std::size_t n = split_mix(random) % out.size() + 1;
          for (std::size_t i = 0; i < n; i++) ASSERT_EQ(out[i], message[position++ % message.size()]);
          wire.append(out.data(), n);
          rig.pipeline.written(n);
        }
        if (wire.empty()) continue;
        const auto buffer = rig.pipeline.read_buffer();
        ASSERT_FALSE(buffer.empty());
        const std::size_t n = std::min<std::size_t>(buffer.size(), split_mix(random) % wire.size() + 1);
        std::memcpy(buffer.data(), wire.data(), n);
        wire.erase(0, n);
        rig.pipeline.received(n, now);
      }
      const contract::Counts counts = rig.load.counts();
      EXPECT_GT(counts.exchanges, 0) << bytes << " × " << in_flight;
      EXPECT_EQ(rig.agenda.held(), static_cast<std::size_t>(in_flight));
      // Sent, less what is under way, is answered: no exchange lost or invented.
      const auto begun = static_cast<std::int64_t>((position + message.size() - 1) / message.size());
      EXPECT_LE(counts.exchanges, begun);
      EXPECT_GE(counts.exchanges, begun - in_flight);
    }
  }
}

TEST(Pipeline, MessagesAreContiguousWhereTheyArrive) {
  Rig rig(setup_of(100, 4));
  rig.pipeline.begin(1);
  std::size_t offset = 0;
  const char* start = rig.pipeline.read_buffer().data();
  for (int round = 0; round < 50; round++) {
    rig.pipeline.written(rig.pipeline.outgoing(1).size());
    const auto buffer = rig.pipeline.read_buffer();
    const auto at = static_cast<std::size_t>(buffer.data() - start);
    EXPECT_EQ(at % 100, offset % 100);
    EXPECT_LE(at + buffer.size(), 500U);
    const std::size_t n = std::min<std::size_t>(buffer.size(), 37);
    rig.pipeline.received(n, 2);
    offset += n;
  }
}

TEST(Pipeline, SentIsTheInstantOfTheMessagesFirstByte) {
  Rig rig(setup_of(10, 2));
  rig.pipeline.begin(100);
  EXPECT_EQ(rig.pipeline.outgoing(200).size(), 20U);
  rig.pipeline.written(4);  // the second message did not begin
  EXPECT_EQ(rig.pipeline.outgoing(300).size(), 16U);
  rig.pipeline.written(16);
  rig.pipeline.received(20, 1'000);
  Histogram expected;
  expected.record(800);
  expected.record(700);
  EXPECT_EQ(rig.load.result(2'000).service, expected.encode());
}

TEST(Pipeline, BytesThatNobodyAskedForAreInvalid) {
  Rig rig(setup_of(10, 1));
  rig.pipeline.begin(1);
  try {
    rig.pipeline.received(1, 2);  // nothing was written yet
    FAIL() << "accepted";
  } catch (const contract::Failure& failure) {
    EXPECT_EQ(failure.kind(), contract::ErrorKind::invalid);
  }
}

TEST(Pipeline, ALostConnectionFailsWhatIsInFlightAndLetsGo) {
  contract::Setup setup = setup_of(10, 3);
  setup.load.think_ns = 1'000'000;  // slots 1 and 2 wait in the agenda
  Rig rig(setup);
  rig.pipeline.begin(1);
  rig.pipeline.written(rig.pipeline.outgoing(1).size());
  EXPECT_EQ(rig.agenda.held(), 3U);
  rig.pipeline.abandon(contract::ErrorKind::peer, 50);
  EXPECT_EQ(rig.agenda.held(), 0U);
  EXPECT_EQ(rig.load.counts().errors[static_cast<std::size_t>(contract::ErrorKind::peer)], 1);
  EXPECT_FALSE(rig.pipeline.unsent());
}

TEST(Agenda, GathersWhatIsDue) {
  Agenda agenda;
  agenda.hold(2);
  EXPECT_EQ(agenda.wakes_at(), Agenda::kNever);
  agenda.wait({1'100, 0, 0});
  EXPECT_EQ(agenda.wakes_at(), 1'100);
  agenda.gather(500);
  EXPECT_EQ(agenda.wakes_at(), 1'500);
  EXPECT_FALSE(agenda.is_due(1'499));
  EXPECT_TRUE(agenda.is_due(1'500));
  EXPECT_EQ(agenda.next_due(), 1'100) << "its time runs from when it was due";
  agenda.wait({1'000, 0, 1});
  EXPECT_EQ(agenda.wakes_at(), 1'000);
  agenda.take();
  agenda.take();
  EXPECT_EQ(agenda.wakes_at(), Agenda::kNever);
}

TEST(Pace, LooksAgainForWhatIsInFlightOrDueSoon) {
  Agenda agenda;
  Pace pace(agenda);
  agenda.hold(2);
  pace.stirred(1'000);
  EXPECT_FALSE(pace.looks_again(1'000)) << "it always sleeps, unless told";
  pace.spin(100);
  EXPECT_FALSE(pace.looks_again(1'000)) << "nothing has happened since";
  pace.stirred(1'000);
  EXPECT_TRUE(pace.looks_again(1'099)) << "both are in flight";
  EXPECT_FALSE(pace.looks_again(1'100)) << "for so long and no longer";
  EXPECT_EQ(pace.sleeps_until(), Agenda::kNever);
  agenda.wait({1'500, 0, 0});
  EXPECT_EQ(pace.sleeps_until(), 1'400);
  EXPECT_FALSE(pace.looks_again(1'400));
  EXPECT_TRUE(pace.looks_again(1'401)) << "it is due soon";
  EXPECT_TRUE(pace.looks_again(1'600)) << "it is due";
  agenda.wait({9'000, 0, 1});
  agenda.take();
  agenda.wait({8'000, 0, 0});
  pace.stirred(1'600);
  EXPECT_FALSE(pace.looks_again(1'601)) << "nothing is in flight";
}

TEST(Agenda, TakesInOrderOfDueAndForgetsAfterTheEnd) {
  Agenda agenda;
  agenda.hold(6);
  for (const std::int64_t due : {50, 10, 40, 30, 20}) agenda.wait({due, static_cast<std::uint32_t>(due), 0});
  EXPECT_EQ(agenda.take().due, 10);
  EXPECT_EQ(agenda.next_due(), 20);
  agenda.end(30);
  EXPECT_EQ(agenda.held(), 4U) << "40 and 50 are let go";
  agenda.forget(20);
  EXPECT_EQ(agenda.held(), 3U);
  EXPECT_EQ(agenda.take().due, 30);
  EXPECT_EQ(agenda.next_due(), Agenda::kNever);
}

/// What an agenda must say, by a list that is searched from one end to the other.
struct ListedAgenda {
  std::vector<Agenda::Entry> waiting;
  std::size_t held = 0;

  std::int64_t next_due() const {
    std::int64_t least = Agenda::kNever;
    for (const Agenda::Entry& entry : waiting) least = std::min(least, entry.due);
    return least;
  }
  void drop(const std::function<bool(const Agenda::Entry&)>& goes) {
    std::erase_if(waiting, [&](const Agenda::Entry& entry) {
      const bool gone = goes(entry);
      if (gone) held--;
      return gone;
    });
  }
  std::size_t in_flight() const { return held - waiting.size(); }
};

TEST(Agenda, IsAListWithoutWhatWasForgotten) {
  std::mt19937 random(7);
  const auto drawn = [&random](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (int round = 0; round < 200; round++) {
    Agenda agenda;
    ListedAgenda listed;
    agenda.hold(1'000);
    listed.held = 1'000;
    for (std::uint32_t step = 0; step < 200; step++) {
      const std::uint32_t connection = drawn(9);
      const std::uint32_t what = drawn(10);
      if (what < 6) {
        Agenda::Entry entry{step + drawn(100), connection, step};
        agenda.wait(entry);
        listed.waiting.push_back(entry);
      } else if (what < 8 && listed.next_due() != Agenda::kNever) {
        const Agenda::Entry taken = agenda.take();
        EXPECT_EQ(taken.due, listed.next_due());
        EXPECT_EQ(std::erase_if(listed.waiting, [&](const auto& entry) { return entry.slot == taken.slot; }),
                  1U);
      } else if (what == 8) {
        agenda.forget(connection);
        listed.drop([connection](const auto& entry) { return entry.connection == connection; });
      } else if (drawn(20) == 0) {
        agenda.end(step);
        listed.drop([step](const auto& entry) { return entry.due > step; });
      }
      ASSERT_EQ(agenda.next_due(), listed.next_due()) << round << ' ' << step;
      ASSERT_EQ(agenda.held(), listed.held);
      ASSERT_EQ(agenda.in_flight(), listed.in_flight());
    }
  }
}

}  // namespace
}  // namespace netdyno
