// Senders and receivers over a connection on loopback.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "kit/address.h"
#include "kit/sockets.h"
#include "kit/stream.h"
#include "kit/system.h"
#include "threads/transfers.h"

namespace netdyno::threads_worker {
namespace {

constexpr std::int64_t kMessage = 1'000'003;
constexpr std::int64_t kChunk = 100'000;

contract::Setup streaming_up() {
  contract::Setup setup;
  setup.role = contract::Role::client;
  setup.exchange.up_bytes = kMessage;
  setup.exchange.down_bytes = 1;
  setup.exchange.stream = contract::Stream::up;
  setup.exchange.chunk_bytes = kChunk;
  return setup;
}

/// Two ends of a TCP connection, which block.
struct Pair {
  Pair() {
    contract::Setup setup;
    setup.listen = "127.0.0.1:0";
    setup.listeners = 1;
    const Listening listening = listen_on(setup, 1);
    const Descriptor listener(listening.fds[0][0]);
    const Endpoint at = endpoint(parse_address(listening.addresses[0], "pair"), "pair");
    near = Descriptor(socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(connect(near.get(), at.get(), at.size), 0);
    pollfd ready{listener.get(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 5'000), 1);
    far = Descriptor(accept(listener.get(), nullptr, nullptr));
  }
  Descriptor near;
  Descriptor far;
};

/// Sends two messages by a sender, and returns what came.
std::string sent_by(Sender& sender, const StreamContent& content, Pair& pair) {
  std::thread sending([&] {
    for (int message = 0; message < 2; message++) {
      for (std::int64_t at = 0; at < content.bytes();) {
        const ssize_t n = sender.send(pair.near.get(), content.from(at), true);
        ASSERT_GT(n, 0);
        at += n;
      }
    }
  });
  std::string came(static_cast<std::size_t>(2 * content.bytes()), '\0');
  EXPECT_EQ(recv(pair.far.get(), came.data(), came.size(), MSG_WAITALL), static_cast<ssize_t>(came.size()));
  sending.join();
  return came;
}

TEST(Sender, EveryWaySendsTheContent) {
  const contract::Setup setup = streaming_up();
  const StreamPlan plan(setup);
  std::string message;
  while (static_cast<std::int64_t>(message.size()) < kMessage) {
    const auto piece = plan.up().from(static_cast<std::int64_t>(message.size()));
    message.append(piece.data(), piece.size());
  }
  for (const Send send : {Send::write, Send::sendfile, Send::splice, Send::zerocopy}) {
    SCOPED_TRACE(static_cast<int>(send));
    const Block block(setup);
    Settings settings;
    settings.send = send;
    Pair pair;
    EXPECT_EQ(sent_by(*make_sender(settings, &block), plan.up(), pair), message + message);
  }
}

TEST(Sender, AccountsForEveryZeroCopySend) {
  const StreamPlan plan(streaming_up());
  Settings settings;
  settings.send = Send::zerocopy;
  const auto sender = make_sender(settings, nullptr);
  const std::int64_t before = account().completed;
  const std::int64_t sends = account().sends;
  Pair pair;
  sent_by(*sender, plan.up(), pair);
  EXPECT_GT(account().sends, sends);
  // The last notices come when the other end has read the bytes, which it has.
  for (int i = 0; i < 500 && account().completed - before < account().sends - sends; i++) {
    pollfd notices{pair.near.get(), 0, 0};
    poll(&notices, 1, 10);
    sender->settle(pair.near.get());
  }
  EXPECT_EQ(account().completed - before, account().sends - sends);
  EXPECT_EQ(account().copied, account().completed) << "loopback has no device that could read pages";
  EXPECT_NE(account().text().find(" copied by the kernel"), std::string::npos);
}

TEST(Receiver, CountsWhatItDrops) {
  for (const Receive receive : {Receive::read, Receive::truncate, Receive::splice}) {
    SCOPED_TRACE(static_cast<int>(receive));
    Settings settings;
    settings.receive = receive;
    Receiver receiver(settings, 10, true);
    Pair pair;
    ASSERT_EQ(send(pair.near.get(), "abcdefghij", 10, 0), 10);
    std::vector<char> buffer(4, '-');
    EXPECT_EQ(receiver.receive(pair.far.get(), buffer, false, Waiting::may), 4);
    EXPECT_EQ(std::string(buffer.begin(), buffer.end()), "abcd") << "what is verified is read";
    std::fill(buffer.begin(), buffer.end(), '-');
    EXPECT_EQ(receiver.receive(pair.far.get(), buffer, true, Waiting::may), 4);
    EXPECT_EQ(std::string(buffer.begin(), buffer.end()), receive == Receive::read ? "efgh" : "----");
    EXPECT_EQ(receiver.receive(pair.far.get(), buffer, true, Waiting::may), 2);
    EXPECT_EQ(receiver.receive(pair.far.get(), buffer, true, Waiting::must_not), -1) << "nothing is left";
    shutdown(pair.near.get(), SHUT_WR);
    EXPECT_EQ(receiver.receive(pair.far.get(), buffer, true, Waiting::may), 0);
  }
}

TEST(Receiver, WaitsForTheLowWaterMarkOrTheRestOfAMessage) {
  Settings settings;
  settings.lowat = 1'000;
  Receiver receiver(settings, 1'500, true);
  Pair pair;
  std::string bytes(1'500, 'x');
  std::vector<char> buffer(4'096);
  const auto readable = [&](int ms) {
    receiver.prepare(pair.far.get());
    pollfd ready{pair.far.get(), POLLIN, 0};
    return poll(&ready, 1, ms) == 1;
  };
  ASSERT_EQ(send(pair.near.get(), bytes.data(), 999, 0), 999);
  EXPECT_FALSE(readable(50));
  ASSERT_EQ(send(pair.near.get(), bytes.data(), 1, 0), 1);
  EXPECT_TRUE(readable(5'000));
  EXPECT_EQ(receiver.receive(pair.far.get(), buffer, true, Waiting::polled), 1'000);
  ASSERT_EQ(send(pair.near.get(), bytes.data(), 500, 0), 500);
  EXPECT_TRUE(readable(5'000)) << "nothing follows before an answer";
  EXPECT_EQ(receiver.receive(pair.far.get(), buffer, true, Waiting::polled), 500);
  ASSERT_EQ(send(pair.near.get(), bytes.data(), 500, 0), 500);
  EXPECT_FALSE(readable(50)) << "the next message is under way";
}

}  // namespace
}  // namespace netdyno::threads_worker
