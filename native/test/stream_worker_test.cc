// What any worker of wire stream must do: both ends count the same, and neither accepts
// content other than the wire's.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

#include "kit/address.h"
#include "kit/stream.h"
#include "kit/system.h"
#include "test/executable.h"
#include "test/flows.h"
#include "test/odd_server.h"
#include "test/worker_process.h"

namespace netdyno::test {
namespace {

Json exchange_of(const std::string& stream, std::int64_t up, std::int64_t down, std::int64_t chunk) {
  return {{"exchange", {{"up_bytes", up}, {"down_bytes", down}, {"stream", stream}, {"chunk_bytes", chunk}}}};
}

Json amount_of(Json change, std::int64_t in_flight) {
  change["load"] = {{"connections", 3}, {"in_flight", in_flight}, {"amount", 6}};
  return change;
}

TEST(StreamWorker, BytesOfBothEndsAgree) {
  const std::vector<std::array<std::int64_t, 4>> cases = {
      {1, 1, 1, 1}, {1, 3'000'000, 65'536, 2}, {3'000'000, 1, 65'536, 2}, {70'000, 90'000, 1'000, 4}};
  for (const std::string stream : {"up", "down", "both"}) {
    for (const auto& [up, down, chunk, in_flight] : cases) {
      SCOPED_TRACE(testing::Message() << stream << ' ' << up << ' ' << down << ' ' << chunk);
      const Json change = exchange_of(stream, up, down, chunk);
      EchoServer server(executable(), change);
      ToldClient client(executable(), server.address(), amount_of(change, in_flight));
      client.worker.expect("ready");
      client.worker.send({{"start", Json::object()}});
      const Json counts = client.worker.expect("result").at("counts");
      EXPECT_EQ(counts.at("exchanges"), 18);
      EXPECT_EQ(counts.at("sent_bytes"), 18 * up);
      EXPECT_EQ(counts.at("received_bytes"), 18 * down);
      EXPECT_FALSE(counts.contains("errors")) << counts;
      const Json served = server.counts(21);
      EXPECT_EQ(served.at("exchanges"), 21) << "with one verified exchange on each connection";
      EXPECT_EQ(served.at("received_bytes"), 21 * up);
      EXPECT_EQ(served.at("sent_bytes"), 21 * down);
    }
  }
}

TEST(StreamWorker, SocketBuffersAreOptions) {
  Json change = exchange_of("both", 500'000, 500'000, 10'000);
  change["options"] = {{"send_buffer", 30'000}, {"receive_buffer", 30'000}};
  EchoServer server(executable(), change);
  EXPECT_EQ(server.ready().at("options").at("receive_buffer"), 30'000);
  ToldClient client(executable(), server.address(), amount_of(change, 2));
  EXPECT_EQ(client.worker.expect("ready").at("options").at("send_buffer"), 30'000);
  client.worker.send({{"start", Json::object()}});
  EXPECT_EQ(client.worker.expect("result").at("counts").at("exchanges"), 18);
}

TEST(StreamWorker, AServerDropsAClientWithAnotherContentAndServesOn) {
  const Json change = exchange_of("up", 5'000, 10, 1'000);
  EchoServer server(executable(), change);
  const Endpoint at = endpoint(parse_address(server.address(), "server"), "server");
  const StreamContent up(StreamContent::kUp, 5'000, 1'000);
  for (const bool spoilt : {true, false}) {
    const Descriptor fd(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(fd.get(), at.get(), at.size), 0);
    std::string content = message(up);
    if (spoilt) content[4'321] = static_cast<char>(content[4'321] ^ 1);
    ASSERT_EQ(send(fd.get(), content.data(), content.size(), MSG_NOSIGNAL), 5'000);
    pollfd ready{fd.get(), POLLIN, 0};
    ASSERT_EQ(poll(&ready, 1, kTimeoutMs), 1) << "neither answered nor dropped";
    char answer[10];
    const ssize_t n = recv(fd.get(), answer, sizeof answer, MSG_WAITALL);
    EXPECT_EQ(n > 0, !spoilt);
  }
}

/// How a client reacts to a server of wire stream that sends the given bytes after the first
/// ten bytes up.
Json told_by(const std::string& answer) {
  const OddServer server([&answer](int fd) {
    char question[10];
    if (recv(fd, question, sizeof question, MSG_WAITALL) != sizeof question) return;
    ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    swallow(fd);
  });
  Json change = exchange_of("down", 10, 100, 64);
  change["load"] = {{"connections", 1}};
  ToldClient client(executable(), server.address(), change);
  WorkerProcess& worker = client.worker;
  if (answer.size() > 100) {
    worker.expect("ready");
    worker.send({{"start", Json::object()}});
  }
  return worker.expect("error");
}

TEST(StreamWorker, AClientRefusesAnotherContentAndSurplus) {
  std::string wrong = message(StreamContent(StreamContent::kDown, 100, 64));
  const std::string surplus = wrong + wrong + "x";  // answers the verified exchange and more than the next
  wrong[99] = static_cast<char>(wrong[99] ^ 1);
  for (const std::string& answer : {wrong, surplus}) {
    Json error;
    ASSERT_NO_THROW(error = told_by(answer));
    EXPECT_EQ(error.at("kind"), "invalid") << error;
    EXPECT_TRUE(error.value("fatal", false));
  }
}

TEST(StreamWorker, ALostConnectionCountsWhatWasInFlight) {
  const std::string down = message(StreamContent(StreamContent::kDown, 100'000, 1'000));
  const OddServer server([&down](int fd) {
    char question;
    if (recv(fd, &question, 1, 0) != 1) return;
    ::send(fd, down.data(), down.size(), MSG_NOSIGNAL);
    if (recv(fd, &question, 1, 0) == 1) ::send(fd, down.data(), 50'000, MSG_NOSIGNAL);
  });
  Json change = exchange_of("down", 1, 100'000, 1'000);
  change["load"] = {{"connections", 2}};
  ToldClient client(executable(), server.address(), change);
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  EXPECT_NO_THROW(client.worker.expect_error("peer", true));
}

TEST(StreamWorker, SizesThatTheWireCannotHaveAreASetupError) {
  for (const auto& [up, down, chunk] : {std::array{0, 1, 1}, {1, 0, 1}, {1, 1, -1}}) {
    WorkerProcess worker(executable());
    Json setup = setup_message(worker.expect("hello").at("transports").at(0).at("name"), "server", "");
    setup.update(exchange_of("both", up, down, chunk));
    worker.send({{"setup", setup}});
    EXPECT_NO_THROW(worker.expect_error("setup", true)) << up << ' ' << down << ' ' << chunk;
  }
}

}  // namespace
}  // namespace netdyno::test
