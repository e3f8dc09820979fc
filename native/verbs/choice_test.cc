// Which port and GID a trial takes, and in what words it is refused.
#include <gtest/gtest.h>

#include "kit/contract.h"
#include "verbs/card.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

namespace {

Candidate candidate(const std::string& device, std::uint32_t index, const std::string& address,
                    GidKind kind = GidKind::roce2) {
  Candidate out;
  out.device = device;
  out.port = 1;
  out.gid_index = index;
  gid_of(address, out.gid);
  out.kind = kind;
  out.active = true;
  out.state = "PORT_ACTIVE";
  out.mtu_bytes = 1024;
  return out;
}

/// A host with two cards for Ethernet, the second of which is down, and one for InfiniBand.
std::vector<Candidate> host() {
  std::vector<Candidate> all = {
      candidate("mlx5_0", 0, "fe80::1"),
      candidate("mlx5_0", 2, "10.0.0.1", GidKind::roce1),
      candidate("mlx5_0", 3, "10.0.0.1"),
      candidate("mlx5_1", 3, "10.0.1.1"),
      candidate("mlx5_2", 0, "fe80::2", GidKind::infiniband),
  };
  all[3].active = false;
  all[3].state = "PORT_DOWN";
  all[3].interface = "ens2";
  all[4].interface = "ib0";
  return all;
}

/// "mlx5_0:1 3", or the words of the refusal.
std::string chosen(const Settings& settings, const Whereabouts& end, ErrorKind kind = ErrorKind::setup) {
  const auto all = host();
  try {
    const Candidate& found = choose(all, settings, end);
    return port_name(found) + " " + std::to_string(found.gid_index);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), kind);
    return failure.what();
  }
}

TEST(Choice, IsThePortThatCarriesTheAddress) {
  EXPECT_EQ(chosen({}, {"10.0.0.1", ""}), "mlx5_0:1 3") << "version 2 of RoCE, not 1";
  EXPECT_EQ(chosen({}, {"10.9.0.1", "ib0"}), "mlx5_2:1 0") << "by its interface";
}

TEST(Choice, OnLoopbackIsAnyThatIsActive) { EXPECT_EQ(chosen({}, {"127.0.0.1", "lo"}), "mlx5_0:1 3"); }

TEST(Choice, FollowsTheSettings) {
  Settings settings;
  settings.device = "mlx5_2";
  EXPECT_EQ(chosen(settings, {"10.0.0.1", ""}), "mlx5_2:1 0");
  settings = {};
  settings.gid_index = 2;
  EXPECT_EQ(chosen(settings, {"10.0.0.1", ""}), "mlx5_0:1 2");
}

TEST(Choice, RefusesInWordsThatHelp) {
  Settings settings;
  settings.device = "mlx5_3";
  const std::string nowhere = chosen(settings, {"10.0.0.1", ""});
  EXPECT_NE(nowhere.find("did you mean \"mlx5_"), std::string::npos) << nowhere;
  EXPECT_NE(nowhere.find("mlx5_0, mlx5_1, mlx5_2"), std::string::npos) << nowhere;
  settings = {};
  settings.gid_index = 7;
  EXPECT_NE(chosen(settings, {"10.0.0.1", ""}).find("index 7; there is mlx5_0:1 gid 0 (fe80::1)"),
            std::string::npos);
  const std::string other = chosen({}, {"10.5.0.1", "eth0"}, ErrorKind::unsupported);
  EXPECT_NE(other.find("no RDMA port here carries address 10.5.0.1"), std::string::npos) << other;
  const std::string down = chosen({}, {"10.0.1.1", ""});
  EXPECT_NE(down.find("mlx5_1:1 is PORT_DOWN, expected PORT_ACTIVE; ip link set ens2 up"), std::string::npos)
      << down;
}

TEST(Choice, OfTheMtuIsThePortsOrLess) {
  const Candidate port = candidate("rxe0", 1, "10.0.0.1");
  EXPECT_EQ(mtu_on(port, {}), 1024U);
  Settings settings;
  settings.mtu_bytes = 512;
  EXPECT_EQ(mtu_on(port, settings), 512U);
  settings.mtu_bytes = 4096;
  try {
    mtu_on(port, settings);
    FAIL() << "an MTU above the port's was taken";
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("opt.mtu is 4096, but port rxe0:1 carries 1024"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace netdyno::verbs
