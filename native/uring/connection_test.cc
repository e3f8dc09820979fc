// A connection that reads late knows when the bytes came.
#include "uring/connection.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <chrono>
#include <string>
#include <thread>

#include "kit/system.h"

namespace netdyno::uring_worker {
namespace {

/// Both ends of a TCP connection over loopback: a socketpair's bytes have no stamps.
struct TcpPair {
  TcpPair() : near(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener.get(), any, size), 0);
    EXPECT_EQ(listen(listener.get(), 1), 0);
    EXPECT_EQ(getsockname(listener.get(), any, &size), 0);
    EXPECT_EQ(connect(near.get(), any, size), 0);
    far = Descriptor(accept(listener.get(), nullptr, nullptr));
    EXPECT_GE(far.get(), 0);
  }
  Descriptor near;
  Descriptor far;
};

/// Waits for bytes, and keeps when they came.
class Listening final : public Flow {
 public:
  explicit Listening(std::int64_t& came) : came_(came) {}
  void begin(std::int64_t) override {}
  void send(std::uint32_t) override {}
  bool unsent() const override { return false; }
  std::span<const char> outgoing(std::int64_t) override { return {}; }
  void written(std::size_t) override {}
  std::span<char> read_buffer() override { return buffer_; }
  void received(std::size_t, std::int64_t now) override { came_ = now; }
  void abandon(contract::ErrorKind, std::int64_t) override {}

 private:
  std::int64_t& came_;
  std::array<char, 64> buffer_{};
};

class Unobserved final : public LoopObserver {
  void lost(Connection&) override {}
  void released(Connection&) override {}
};

/// How long before they were read bytes came, in ns, that lay there for lain.
std::int64_t told(bool stamped, std::chrono::nanoseconds lain) {
  TcpPair pair;
  Settings settings;
  settings.stamped = stamped;
  Loop loop(settings);
  Unobserved observer;
  std::int64_t came = 0;
  std::int64_t read = 0;
  Connection connection(loop, observer, contract::Role::client, std::move(pair.near),
                        std::make_unique<Listening>(came));
  loop.ring.run(
      [&] {
        connection.begin();
        loop.look();  // the receive is the kernel's now
        EXPECT_EQ(came, 0);
        EXPECT_EQ(send(pair.far.get(), "x", 1, MSG_NOSIGNAL), 1);
        std::this_thread::sleep_for(lain);
        read = now_ns();
        while (came == 0) loop.turn(now_ns() + 1'000'000);
      },
      [&] { connection.cancel(); });
  return read - came;
}

TEST(Connection, KnowsWhenLateBytesCame) {
  constexpr std::chrono::milliseconds kLain{100};
  // The kernel begins to stamp some time after the first socket asks, and goes on while one does.
  const TcpPair asks;
  const int on = 1;
  ASSERT_EQ(setsockopt(asks.near.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), 0);
  std::int64_t before = 0;
  for (int tried = 0; tried < 50 && before <= 0; ++tried) before = told(true, kLain);
  EXPECT_GE(before, std::chrono::nanoseconds(kLain).count() / 2);
  EXPECT_LT(before, std::chrono::nanoseconds(std::chrono::minutes(1)).count());
  EXPECT_LE(told(false, kLain), 0) << "without stamps they come when they are read";
}

}  // namespace
}  // namespace netdyno::uring_worker
