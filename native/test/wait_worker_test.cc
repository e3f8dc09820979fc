// Options wait and spin of a client of event loops, and load.gather_ns: it polls as long as they
// say, says so, and does the same work; it sends together what is due.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/executable.h"
#include "test/odd_server.h"
#include "test/worker_process.h"

namespace netdyno::test {
namespace {

Json polling(const Json& load, std::int64_t spin_ns = 1'000'000) {
  return {{"load", load}, {"options", {{"wait", "poll"}, {"spin", spin_ns}}}};
}

/// State and CPU time, in ticks, of the client's loop, by proc(5); "" while it has none.
std::pair<std::string, long> loop_of(pid_t pid) {
  namespace fs = std::filesystem;
  for (const fs::path& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::string line;
    std::getline(std::ifstream(task / "stat"), line);
    if (line.find("(loop 0)") == std::string::npos) continue;
    std::vector<std::string> fields;
    std::string field;
    for (std::istringstream rest(line.substr(line.rfind(')') + 2)); rest >> field;) fields.push_back(field);
    return {fields.at(0), std::stol(fields.at(11)) + std::stol(fields.at(12))};
  }
  return {"", 0};
}

/// Waits until the loop has slept through 20 looks without CPU time between them, or 20 s.
bool comes_to_rest(pid_t pid) {
  int rested = 0;
  long before = -1;
  for (int looks = 0; rested < 20 && looks < kTimeoutMs; looks++) {
    const auto [state, cpu] = loop_of(pid);
    rested = state == "S" && cpu == before ? rested + 1 : 0;
    before = cpu;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return rested == 20;
}

TEST(Wait, IsOfferedByThoseThatHonourIt) {
  EXPECT_EQ(offers(executable(), "wait"), offers(executable(), "spin"));
  if (offers(executable(), "wait")) return;
  EchoServer server(executable());
  ToldClient client(executable(), server.address(), polling({{"connections", 1}}));
  EXPECT_NO_THROW(client.worker.expect_error("setup", true));
}

// Of workers with event loops; the rest run without these.

TEST(Polling, SendsGathered) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(),
                    {{"load",
                      {{"connections", 2},
                       {"in_flight", 20},
                       {"rate", 2'000},
                       {"amount", 100},
                       {"gather_ns", 10'000'000}}}});
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  const Json result = client.worker.expect("result");
  EXPECT_EQ(result.at("counts").at("exchanges"), 200);
  const Json gaps = result.at("arrivals");
  const double mean = gaps.at("sum_ns").get<double>() / gaps.at("gaps").get<double>();
  const double square = gaps.at("sum_squares_ns2").get<double>() / gaps.at("gaps").get<double>();
  EXPECT_GT(square, 9 * mean * mean) << "even sends have 1, and 20 that go together 20 or more";
}

TEST(Polling, DoesTheSameWork) {
  EchoServer server(executable());
  const std::vector<Json> loads = {
      {{"connections", 4}, {"in_flight", 3}, {"amount", 50}},
      {{"connections", 4}, {"amount", 20}, {"think_ns", 300'000}},   // due while it polls
      {{"connections", 4}, {"amount", 5}, {"think_ns", 5'000'000}},  // and after it slept
  };
  for (const std::int64_t spin_ns : {1'000, 1'000'000}) {
    for (const Json& load : loads) {
      SCOPED_TRACE(load.dump());
      ToldClient client(executable(), server.address(), polling(load, spin_ns));
      EXPECT_TRUE(client.worker.expect("ready").value("polls", false));
      client.worker.send({{"start", Json::object()}});
      const Json counts = client.worker.expect("result").at("counts");
      EXPECT_EQ(counts.at("exchanges"), load.value("connections", 0) * load.value("amount", 0));
      EXPECT_FALSE(counts.contains("errors")) << counts;
    }
  }
}

TEST(Polling, ASleeperDoesNotSayThatItPolls) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(), {{"load", {{"connections", 1}}}});
  EXPECT_FALSE(client.worker.expect("ready").value("polls", false));
}

TEST(Polling, SleepsWhenNothingHasComeForSoLong) {
  const OddServer server([](int fd) {  // answers the verification, and nothing then
    char message[64];
    if (recv(fd, message, sizeof message, MSG_WAITALL) != sizeof message) return;
    ::send(fd, message, sizeof message, MSG_NOSIGNAL);
    swallow(fd);
  });
  ToldClient client(executable(), server.address(), polling({{"connections", 1}}));
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  EXPECT_TRUE(comes_to_rest(client.worker.pid())) << "an exchange in flight that nobody answers";
}

TEST(Polling, SleepsWhileNothingIsDue) {
  EchoServer server(executable());
  ToldClient client(executable(), server.address(),
                    polling({{"connections", 50}, {"active_share", 0.02}, {"think_ns", 60'000'000'000}}));
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  EXPECT_TRUE(comes_to_rest(client.worker.pid())) << "idle connections, and one that thinks";
}

}  // namespace
}  // namespace netdyno::test
