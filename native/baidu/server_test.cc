// A whole server on asio's loops, on loopback, fed with what is no frame.
#include "asio/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "baidu/test_setup.h"
#include "baidu/work.h"
#include "kit/address.h"
#include "kit/descriptor.h"
#include "kit/random.h"

namespace netdyno::baidu {
namespace {

using contract::ErrorKind;
using contract::Role;

constexpr int kTimeoutS = 10;

class Served : public testing::Test {
 protected:
  Served() : setup_(setup_of(Role::server, 100, 50, {{"max_body", 1 << 20}})) {
    server_ =
        std::make_unique<LoopServer>(setup_, std::make_unique<asio_worker::AsioServerLoop>, work_of(setup_));
  }

  Descriptor connected() const {
    const Endpoint at = endpoint(parse_address(server_->ready().addresses[0], "ready"), "ready");
    Descriptor fd(socket(at.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval timeout{kTimeoutS, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (connect(fd.get(), at.get(), at.size) != 0) throw std::runtime_error("connect to the server");
    return fd;
  }

  /// Whether the server closes the connection; what it says before goes to said.
  static bool closed(const Descriptor& fd, std::string* said = nullptr) {
    char bytes[4096];
    for (;;) {
      const ssize_t n = recv(fd.get(), bytes, sizeof bytes, 0);
      if (n <= 0) return n == 0 || errno == ECONNRESET;
      if (said != nullptr) said->append(bytes, static_cast<std::size_t>(n));
    }
  }

  static void say(const Descriptor& fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // it may be closed by now
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  /// A good exchange on a connection of its own.
  void expect_alive() const {
    const Descriptor fd = connected();
    say(fd, framed(request(9), block(100)));
    shutdown(fd.get(), SHUT_WR);
    std::string said;
    ASSERT_TRUE(closed(fd, &said));
    ASSERT_GE(said.size(), kHeaderSize);
    const Header header = parse_header(std::span<const char, kHeaderSize>(said.data(), kHeaderSize), 1 << 20);
    const Frame reply = parse_body(std::string_view(said).substr(kHeaderSize), header);
    EXPECT_EQ(reply.meta.correlation_id, 9);
    EXPECT_EQ(reply.meta.error_code, 0);
    EXPECT_EQ(reply.message.size(), block(50).size());
  }

  std::int64_t invalid() const {
    return server_->counts().errors[static_cast<std::size_t>(ErrorKind::invalid)];
  }

  /// Waits for what a loop does after it has closed a connection.
  static void await(const std::function<bool()>& come) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kTimeoutS);
    while (!come() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(come());
  }

  contract::Setup setup_;
  std::unique_ptr<LoopServer> server_;
};

TEST_F(Served, ClosesAConnectionThatBringsNoFrame) {
  const std::string good = framed(request(1), block(100));
  const std::vector<std::string> noises = {
      "GET / HTTP/1.1\r\nHost: here\r\n\r\n",
      std::string("PRPC\xff\xff\xff\xff\xff\xff\xff\xff", 12),
      std::string("PRPC\x00\x10\x00\x01\x00\x00\x00\x00", 12),
      std::string("PRPC\x00\x00\x00\x04\x00\x00\x00\x05", 12),
      std::string("PRPC\x00\x00\x00\x04\x00\x00\x00\x04\xff\xff\xff\xff", 16),
      good + std::string(kHeaderSize, 'x'),
  };
  for (const std::string& noise : noises) {
    const Descriptor fd = connected();
    say(fd, noise);
    EXPECT_TRUE(closed(fd)) << "it stays open after " << noise;
  }
  EXPECT_EQ(invalid(), static_cast<std::int64_t>(noises.size()));
  expect_alive();
}

TEST_F(Served, CountsAFrameThatIsCutOff) {
  const std::string good = framed(request(1), block(100));
  for (const std::size_t n : {std::size_t{1}, kHeaderSize, good.size() - 1}) {
    const Descriptor fd = connected();
    say(fd, good.substr(0, n));
    shutdown(fd.get(), SHUT_WR);
    EXPECT_TRUE(closed(fd)) << n;
  }
  await([this] { return invalid() == 3; });
  expect_alive();
}

TEST_F(Served, BearsGarbage) {
  std::uint64_t random = 41;
  const std::string good = framed(request(1), block(100));
  for (int i = 0; i < 300; i++) {
    std::string bytes = good + good;
    for (std::uint64_t n = 1 + split_mix(random) % 6; n > 0; n--) {
      bytes[split_mix(random) % bytes.size()] = static_cast<char>(split_mix(random));
    }
    if (i % 3 == 0) bytes.resize(split_mix(random) % bytes.size());
    const Descriptor fd = connected();
    say(fd, bytes);
    shutdown(fd.get(), SHUT_WR);
    ASSERT_TRUE(closed(fd)) << "case " << i;
  }
  expect_alive();
  await([this] { return server_->counts().connections == 0; });
}

}  // namespace
}  // namespace netdyno::baidu
