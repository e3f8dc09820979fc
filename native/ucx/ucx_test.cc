// What of the worker is plain text and numbers: lanes, settings, introductions.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kit/options.h"
#include "ucx/channel.h"
#include "ucx/context.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

namespace {

// As UCX 1.13.1 printed it.
constexpr char kPrinted[] = R"(#
# UCP endpoint
#
#               peer: <no debug data>
#                 lane[0]:  3:sysv/memory.0 md[3]           -> md[3]/sysv/sysdev[255] am am_bw#0
#                 lane[1]:  5:cma/memory.0 md[5]            -> md[5]/cma/sysdev[255] rma_bw#0
#                 lane[2]:  3:sysv/memory.0 md[3]           -> md[3]/sysv/sysdev[255] rma_bw#1
#
#                tag_send: 0..<egr/short>..92..<egr/bcopy>..8248..<rndv>..(inf)
#
)";

TEST(Lanes, AreNamedOnceInTheirOrder) {
  EXPECT_EQ(lanes_of(kPrinted), "sysv/memory cma/memory");
  EXPECT_EQ(lanes_of("lane[0]:  2:rc_mlx5/mlx5_0:1.0 md[4] -> am"), "rc_mlx5/mlx5_0:1");
  EXPECT_EQ(lanes_of("lane[0]:  1:tcp/eth0.100.0 md[1]"), "tcp/eth0.100") << "a VLAN";
}

TEST(Lanes, OtherTextHasNone) {
  for (const char* text : {"", "\n\n", "lane[", "lane[0]:", "lane[0]: 1", "lane[0]: :", "peer: lane"}) {
    EXPECT_EQ(lanes_of(text), "") << text;
  }
}

/// The defaults, with a change.
Settings settings_of(const contract::Options& change) {
  contract::Transport transport;
  transport.options = setting_options();
  return Settings::of(complete_options(transport, contract::Role::client, change));
}

std::string tls_of(const contract::Options& change) {
  const auto all = configuration(settings_of(change), {"eth0", "mlx5_0:1"});
  EXPECT_EQ(all.at(1).first, "NET_DEVICES");
  EXPECT_EQ(all.at(1).second, "eth0,mlx5_0:1");
  return all.at(0).first + "=" + all.at(0).second;
}

TEST(Settings, NameTransportsOfUcx) {
  EXPECT_EQ(tls_of(contract::Options{}), "TLS=all");
  EXPECT_EQ(tls_of({{"tls", "tcp"}}), "TLS=tcp");
  EXPECT_EQ(tls_of({{"tls", "shm"}}), "TLS=shm");
  EXPECT_EQ(tls_of({{"tls", "tcp"}, {"memory", "cuda"}}), "TLS=tcp,cuda_copy,gdr_copy");
  EXPECT_EQ(tls_of({{"tls", "shm"}, {"memory", "cuda"}}), "TLS=shm,cuda");
  EXPECT_EQ(configuration(settings_of(contract::Options{}), {}).at(1).second, "all");
}

TEST(Settings, DemandTheWayThatIsAskedFor) {
  EXPECT_EQ(demands(settings_of(contract::Options{})).over, "");
  EXPECT_EQ(demands(settings_of({{"tls", "shm"}})).over, "shm");
  EXPECT_EQ(demands(settings_of({{"tls", "tcp"}, {"memory", "cuda"}})).over, "tcp");
}

TEST(Settings, OperationsHaveTheirNames) {
  for (const char* operation : {"tag", "stream", "put", "get"}) {
    EXPECT_EQ(name(settings_of({{"operation", operation}}).operation), operation);
  }
}

TEST(Settings, DevicesAreThoseOfTheAddress) {
  EXPECT_EQ(devices_of("127.0.0.1"), std::vector<std::string>{"lo"});
  EXPECT_TRUE(devices_of("0.0.0.0").empty());
  EXPECT_TRUE(devices_of("192.0.2.1").empty()) << "an address that no host has (RFC 5737)";
}

TEST(Settings, TheEnvironmentIsTold) {
  setenv("UCX_RNDV_THRESH", "8k\n", 1);
  EXPECT_NE(environment().find("UCX_RNDV_THRESH=8k?"), std::string::npos) << environment();
  unsetenv("UCX_RNDV_THRESH");
}

TEST(Words, ComeBackAsTheyWent) {
  const std::vector<std::uint64_t> some = {0, 1, 258, ~std::uint64_t{0}};
  EXPECT_EQ(numbers(words(some)), some);
  EXPECT_EQ(words(some).substr(16, 8), std::string("\x02\x01\0\0\0\0\0\0", 8));
  EXPECT_TRUE(numbers("1234567").empty());
}

Introduction some_introduction() {
  Introduction some;
  some.operation = Operation::put;
  some.id = 7;
  some.memory = 0x7f00'0000'1000;
  some.key = std::string("k\0y", 3);
  some.host = "boot";
  some.worker = "address";
  return some;
}

TEST(Introductions, ComeBackAsTheyWent) {
  const Introduction sent = some_introduction();
  const Introduction read = Introduction::read(sent.text());
  EXPECT_EQ(read.operation, sent.operation);
  EXPECT_EQ(read.id, sent.id);
  EXPECT_EQ(read.memory, sent.memory);
  EXPECT_EQ(read.key, sent.key);
  EXPECT_EQ(read.host, sent.host);
  EXPECT_EQ(read.worker, sent.worker);
}

TEST(Introductions, EveryPartIsRefusedWhenItIsCutShort) {
  const std::string whole = some_introduction().text();
  const std::size_t before_worker = whole.size() - some_introduction().worker.size();
  for (std::size_t size = 0; size <= before_worker; size++) {
    EXPECT_THROW(Introduction::read(whole.substr(0, size)), Failure) << size;
  }
  EXPECT_THROW(Introduction::read("HTTP/1.1 400 Bad Request\r\n\r\n, and so on, and so on"), Failure);
  std::string other = whole;
  other[4] = 9;
  EXPECT_THROW(Introduction::read(other), Failure) << "an operation that there is not";
}

}  // namespace
}  // namespace netdyno::ucx
