// Turns, and marks with keep and part, in conversation with a worker.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "test/executable.h"
#include "test/worker_process.h"

namespace netdyno::test {
namespace {

constexpr std::int64_t kMs = 1'000'000;

void rest(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/// The answer to a mark, which repeats its keys.
Json marked(WorkerProcess& worker, const Json& mark) {
  worker.send({{"mark", mark}});
  Json answer = worker.expect("mark");
  for (const auto& [key, value] : mark.items()) EXPECT_EQ(answer.value(key, Json()), value) << answer;
  return answer.at("reading");
}

std::int64_t exchanges(const Json& of) { return of.at("counts").value("exchanges", std::int64_t{0}); }

TEST(TurnsWorker, IsCountedInPartsAndIsSilentBetweenTurns) {
  EchoServer server(executable());
  for (const Json& pace : {Json::object(), Json{{"rate", 2000}}}) {
    SCOPED_TRACE(pace.dump());
    Json load = {{"connections", 4}, {"turns", {{0, 1000 * kMs}, {3'600'000 * kMs, 3'600'100 * kMs}}}};
    load.update(pace);
    ToldClient client(executable(), server.address(), {{"load", load}});
    WorkerProcess& worker = client.worker;
    worker.expect("ready");
    worker.send({{"start", Json::object()}});
    const std::int64_t warm_up = exchanges(marked(worker, {{"id", 1}, {"reset", true}}));
    const Json edge = marked(worker, {{"id", 2}, {"part", true}});
    const Json first = worker.expect("part");
    EXPECT_EQ(first.at("id"), 2);
    EXPECT_EQ(first.at("result").at("to_ns"), edge.at("at_ns"));

    std::int64_t before = -1;  // the turn is over when nothing more completes
    for (std::int64_t now = exchanges(edge); now == 0 || now != before; rest(150)) {
      before = now;
      now = exchanges(marked(worker, {{"id", 3}, {"keep", true}}));
    }
    if (!pace.empty()) {
      EXPECT_EQ(before, 2000) << "a turn of the schedule";
    }
    marked(worker, {{"id", 4}, {"part", true}});
    const Json second = worker.expect("part").at("result");
    EXPECT_EQ(second.at("from_ns"), edge.at("at_ns"));
    EXPECT_EQ(exchanges(first.at("result")) + exchanges(second), before - warm_up);
    EXPECT_EQ(second.contains("response"), !pace.empty());
    EXPECT_FALSE(second.contains("inside") || second.contains("sent")) << second;

    marked(worker, {{"id", 5}, {"part", true}});
    worker.send({{"mark", {{"id", 6}}}});
    worker.send({{"stop", Json::object()}});
    std::optional<std::int64_t> part;  // on a busy machine it may come before the answer to the mark
    std::optional<Json> message = worker.next();
    for (; message && !message->contains("result"); message = worker.next()) {
      if (message->contains("part")) part = message->at("part").at("id").get<std::int64_t>();
    }
    ASSERT_TRUE(message) << "no result";
    EXPECT_EQ(part, 5) << "before the result, however soon it follows";
    const Json result = message->at("result");
    EXPECT_EQ(exchanges(result), 0);
    EXPECT_FALSE(result.contains("unfinished")) << result;
    worker.send({{"mark", {{"id", 7}, {"part", true}}}});
    worker.expect_error("invalid", false);
    worker.close_stdin();
    EXPECT_EQ(worker.wait(), 0);
  }
}

TEST(TurnsWorker, AServerOnlyReads) {
  EchoServer server(executable());
  marked(server.worker(), {{"id", 1}, {"part", true}});
  marked(server.worker(), {{"id", 2}, {"keep", true}});
}

}  // namespace
}  // namespace netdyno::test
