#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "mpi/environment.h"

namespace netdyno::mpi_worker {
namespace {

namespace fs = std::filesystem;

/// A directory as /sys/class/infiniband, removed in the end.
class RdmaPort : public testing::Test {
 protected:
  RdmaPort() { EXPECT_NE(mkdtemp(root_.data()), nullptr); }
  ~RdmaPort() override { fs::remove_all(root_); }

  void add(const std::string& device, const std::string& port, const std::string& interface) const {
    const fs::path names = fs::path(root_) / device / "ports" / port / "gid_attrs/ndevs";
    fs::create_directories(names);
    std::ofstream(names / "0") << interface << '\n';
  }

  std::string root_ = testing::TempDir() + "rdma-XXXXXX";
};

TEST_F(RdmaPort, IsFoundByItsInterface) {
  EXPECT_FALSE(has_rdma(root_));
  EXPECT_EQ(rdma_port_of("eth0", root_), "");
  add("mlx5_0", "1", "eth0");
  add("mlx5_1", "1", "eth1");
  add("mlx5_1", "2", "eth2");
  EXPECT_TRUE(has_rdma(root_));
  EXPECT_EQ(rdma_port_of("eth0", root_), "mlx5_0:1");
  EXPECT_EQ(rdma_port_of("eth2", root_), "mlx5_1:2");
  EXPECT_EQ(rdma_port_of("eth3", root_), "");
}

TEST_F(RdmaPort, MayNotBeThere) {
  EXPECT_FALSE(has_rdma(fs::path(root_) / "nothing"));
  EXPECT_EQ(rdma_port_of("eth0", fs::path(root_) / "nothing"), "");
}

}  // namespace
}  // namespace netdyno::mpi_worker
