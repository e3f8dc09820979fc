#include "kit/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include "kit/address.h"
#include "kit/system.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

contract::Setup setup_of(const std::string& listen, std::int64_t listeners) {
  contract::Setup setup;
  setup.listen = listen;
  setup.listeners = listeners;
  setup.options = {};
  return setup;
}

/// Closes what listen_on has opened.
struct Open {
  explicit Open(Listening all) : addresses(std::move(all.addresses)) {
    for (const auto& port : all.fds) {
      auto& copies = fds.emplace_back();
      for (const int fd : port) copies.emplace_back(fd);
    }
  }
  std::vector<std::string> addresses;
  std::vector<std::vector<Descriptor>> fds;
};

int option_of(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  getsockopt(fd, level, name, &value, &size);
  return value;
}

TEST(ListenOn, PortsAfterAGivenOneFollowIt) {
  // A port that is free with the three after it: found by trying.
  for (int port = 20'000; port < 20'400; port += 4) {
    try {
      const Open open(listen_on(setup_of("127.0.0.1:" + std::to_string(port), 4), 1));
      ASSERT_EQ(open.addresses.size(), 4U);
      for (int i = 0; i < 4; i++) {
        EXPECT_EQ(open.addresses[static_cast<std::size_t>(i)], "127.0.0.1:" + std::to_string(port + i));
      }
      return;
    } catch (const Failure&) {
      continue;  // somebody else's
    }
  }
  FAIL() << "no four free ports in a row from 20000 to 20399";
}

TEST(ListenOn, CopiesShareTheirPort) {
  const Open open(listen_on(setup_of("127.0.0.1:0", 2), 3));
  ASSERT_EQ(open.fds.size(), 2U);
  for (std::size_t port = 0; port < 2; port++) {
    ASSERT_EQ(open.fds[port].size(), 3U);
    for (const Descriptor& fd : open.fds[port]) {
      Endpoint at;
      ASSERT_EQ(getsockname(fd.get(), at.get(), &at.size), 0);
      EXPECT_EQ(at.address().text(), open.addresses[port]);
      EXPECT_TRUE(fcntl(fd.get(), F_GETFL) & O_NONBLOCK);
      EXPECT_TRUE(fcntl(fd.get(), F_GETFD) & FD_CLOEXEC);
    }
  }
  EXPECT_NE(open.addresses[0], open.addresses[1]);
}

TEST(ListenOn, RefusalsSaySetup) {
  const Open taken(listen_on(setup_of("127.0.0.1:0", 1), 1));
  for (const auto& [listen, listeners] :
       {std::pair{taken.addresses[0], 1}, {std::string("127.0.0.1:65535"), 2}, {std::string("here:0"), 1}}) {
    try {
      const Open open(listen_on(setup_of(listen, listeners), 1));
      FAIL() << listen << " accepted";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::setup) << failure.what();
    }
  }
}

TEST(Allowed, ComparesAddressesNotTexts) {
  contract::Setup setup;
  setup.allow = {"127.0.0.1", "0:0::1"};
  const Allowed allowed(setup);
  const auto accepts = [&](const char* host) {
    return allowed.accepts(endpoint({host, 1234}, "test").storage);
  };
  EXPECT_TRUE(accepts("127.0.0.1"));
  EXPECT_TRUE(accepts("::ffff:127.0.0.1")) << "as a listener of both families sees it";
  EXPECT_TRUE(accepts("::1"));
  EXPECT_FALSE(accepts("127.0.0.2"));
  EXPECT_FALSE(accepts("::2"));
  EXPECT_TRUE(Allowed(contract::Setup{}).accepts(endpoint({"127.0.0.2", 1}, "test").storage));
  setup.allow = {"localhost"};
  EXPECT_THROW(Allowed{setup}, Failure);
}

TEST(SetBuffers, TakeEffectAndAreReported) {
  const Descriptor fd(socket(AF_INET, SOCK_STREAM, 0));
  const contract::Options asked = {{"send_buffer", 20'000}, {"receive_buffer", 0}};
  const int before = option_of(fd.get(), SOL_SOCKET, SO_RCVBUF);
  set_buffers(fd.get(), asked);
  EXPECT_EQ(option_of(fd.get(), SOL_SOCKET, SO_SNDBUF), 40'000) << "the kernel doubles it";
  EXPECT_EQ(option_of(fd.get(), SOL_SOCKET, SO_RCVBUF), before);
  EXPECT_EQ(effective_options(fd.get(), asked), asked);
  const contract::Options beyond = {{"send_buffer", 1 << 30}};
  set_buffers(fd.get(), beyond);
  EXPECT_LT(effective_options(fd.get(), beyond).at("send_buffer").get<int>(), 1 << 30) << "net.core.wmem_max";
}

TEST(PrepareAccepted, LeavesNoDelayAndNoBlocking) {
  const Descriptor fd(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_TRUE(prepare_accepted(fd.get()));
  EXPECT_TRUE(option_of(fd.get(), IPPROTO_TCP, TCP_NODELAY));
  EXPECT_TRUE(fcntl(fd.get(), F_GETFL) & O_NONBLOCK);
  EXPECT_FALSE(prepare_accepted(-1));
}

}  // namespace
}  // namespace netdyno
