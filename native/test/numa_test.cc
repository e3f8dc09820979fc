#include "kit/numa.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace netdyno {
namespace {

/// The files of a machine with 64 CPUs on two nodes, numbered as Linux does: the second threads of
/// all cores last.
class Numa : public testing::Test {
 protected:
  void SetUp() override {
    write("online", "0-1");
    write("node0/cpulist", "0-15,32-47");
    write("node1/cpulist", "16-31,48-63");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  Nodes nodes(const std::string& usable) const { return Nodes::of(root_, cpus_of(usable)); }
  const std::string& root() const { return root_; }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_ + "/sys/devices/system/node/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }

 private:
  std::string root_ = std::filesystem::temp_directory_path() / ("numa-" + std::to_string(getpid()));
};

TEST_F(Numa, LoopsAreSharedOutAsTheCpusAre) {
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(nodes("0-63").of_loops(1), Numbers{0});
  EXPECT_EQ(nodes("0-63").of_loops(4), (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(nodes("0-63").of_loops(5), (Numbers{0, 0, 0, 1, 1}));
  Numbers all = nodes("0-63").of_loops(128);
  EXPECT_EQ(std::count(all.begin(), all.end(), 1), 64) << "more loops than CPUs";
  EXPECT_EQ(nodes("0-11,16-19").of_loops(4), (Numbers{0, 0, 0, 1})) << "12 CPUs of one node, 4 of the other";
  EXPECT_EQ(nodes("16-31").of_loops(4), Numbers()) << "one node: the kernel's own choice is near";
  EXPECT_EQ(Nodes::of("/nowhere", {0, 1}).of_loops(4), Numbers());
}

TEST(Cpus, AreReadFromTheKernelsLists) {
  EXPECT_EQ(cpus_of("0-2,7"), (std::vector<int>{0, 1, 2, 7}));
  EXPECT_EQ(cpus_of("5"), std::vector<int>{5});
  for (const char* bad : {"", "x", "3-1", "-1", "1,x", "0-9999999", "1;2"})
    EXPECT_EQ(cpus_of(bad), std::vector<int>()) << bad;
}

/// The CPUs that a thread may use which is loop i of n.
std::vector<int> kept(const Nodes& nodes, std::size_t i, std::size_t n) {
  std::vector<int> all;
  std::thread([&] {
    nodes.keep(i, n);
    cpu_set_t set;
    CPU_ZERO(&set);
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
      if (CPU_ISSET(cpu, &set)) all.push_back(cpu);
    }
  }).join();
  return all;
}

TEST_F(Numa, ALoopStaysOnItsNodesCpus) {
  const std::vector<int> usable = kept(Nodes(), 0, 1);
  if (usable.size() < 2) GTEST_SKIP() << "one CPU is one node";
  write("node0/cpulist", std::to_string(usable[0]));
  write("node1/cpulist", std::to_string(usable[1]));
  const Nodes two = Nodes::of(root(), usable);
  EXPECT_EQ(kept(two, 0, 2), std::vector<int>{usable[0]});
  EXPECT_EQ(kept(two, 1, 2), std::vector<int>{usable[1]});
  write("node1/cpulist", "4096");
  EXPECT_EQ(kept(Nodes::of(root(), usable), 0, 2), usable) << "one node";
}

}  // namespace
}  // namespace netdyno
