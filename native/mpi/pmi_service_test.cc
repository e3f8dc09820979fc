// Two ranks that ask a service as libraries do, each on its own thread and socket.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "kit/contract.h"
#include "mpi/pmi.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// A service and the sockets of its two ranks, which wait for 20 s at most.
class PmiServiceTest : public testing::Test {
 protected:
  PmiServiceTest() {
    std::array<Descriptor, kRanks> served;
    for (std::size_t rank = 0; rank < served.size(); rank++) {
      std::array<int, 2> pair{};
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
      served[rank] = Descriptor(pair[0]);
      ranks_[rank] = Descriptor(pair[1]);
      const timeval limit{20, 0};
      setsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    service_ = std::make_unique<PmiService>(std::move(served), true);
  }

  std::array<Descriptor, kRanks> ranks_;
  std::unique_ptr<PmiService> service_;
};

/// What a failed question says of why it failed.
std::optional<ErrorKind> failed(const std::function<void()>& question) {
  try {
    question();
  } catch (const Failure& failure) {
    return failure.kind();
  }
  return std::nullopt;
}

TEST_F(PmiServiceTest, TwoRanksFindEachOther) {
  std::array<std::string, kRanks> found;
  std::array<std::thread, kRanks> threads;
  for (int rank = 0; rank < kRanks; rank++) {
    threads[static_cast<std::size_t>(rank)] = std::thread([this, rank, &found] {
      auto pmi = std::make_unique<PmiClient>(ranks_[static_cast<std::size_t>(rank)].get(), rank);
      pmi->init();
      EXPECT_EQ(pmi->space(), "netdyno");
      EXPECT_TRUE(pmi->one_node());
      for (int i = 0; i < 200; i++) {
        pmi->put(std::to_string(rank) + "-" + std::to_string(i), "value " + std::to_string(i) + "  -");
        pmi->barrier();
        std::string& value = found[static_cast<std::size_t>(rank)];
        EXPECT_TRUE(pmi->get(std::to_string(1 - rank) + "-" + std::to_string(i), value));
        EXPECT_EQ(value, "value " + std::to_string(i) + "  -");
        EXPECT_FALSE(pmi->get("nobody's", value));
      }
      pmi->finalize();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PmiServiceTest, ARankThatLeavesEndsTheOthersBarrier) {
  std::atomic<bool> begun{false};
  std::optional<ErrorKind> kind;
  std::thread waiting([&] {
    PmiClient pmi(ranks_[0].get(), 0);
    pmi.init();
    begun = true;
    kind = failed([&] { pmi.barrier(); });
  });
  while (!begun) std::this_thread::yield();
  ranks_[1] = Descriptor();
  waiting.join();
  EXPECT_EQ(kind, ErrorKind::peer);
}

TEST_F(PmiServiceTest, ARankThatSpeaksSomethingElseEndsIt) {
  const std::string line(2 * kMaxPmiLine, 'x');
  ASSERT_EQ(send(ranks_[1].get(), line.data(), line.size(), MSG_NOSIGNAL), static_cast<ssize_t>(line.size()));
  PmiClient pmi(ranks_[0].get(), 0);
  EXPECT_EQ(failed([&] { pmi.barrier(); }), ErrorKind::peer);
}

TEST_F(PmiServiceTest, ItStopsWhileARankIsThere) {
  PmiClient pmi(ranks_[0].get(), 0);
  pmi.init();
  service_.reset();
  EXPECT_EQ(failed([&] { pmi.init(); }), ErrorKind::peer);
}

TEST_F(PmiServiceTest, ValuesThatDoNotFitAreRefused) {
  PmiClient pmi(ranks_[0].get(), 0);
  pmi.init();
  EXPECT_EQ(failed([&] { pmi.put("key", std::string(kMaxPmiValue + 1, 'v')); }), ErrorKind::invalid);
  EXPECT_EQ(failed([&] { pmi.put("key", std::string(kMaxPmiValue, 'v')); }), std::nullopt);
}

}  // namespace
}  // namespace netdyno::mpi_worker
