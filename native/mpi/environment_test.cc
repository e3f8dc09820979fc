// What is taken from a rank's environment, and the directory that it makes and removes.
#include "mpi/environment.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace netdyno::mpi_worker {
namespace {

namespace fs = std::filesystem;

TEST(Environment, LosesWhatMisleadsALibraryAndKeepsTheRest) {
  const std::vector<std::string> misleading = {
      "OMPI_MCA_btl", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_FD",  "MPIR_CVAR_NOLOCAL",
      "SLURM_JOB_ID", "SLURMD_NODENAME",      "FLUX_JOB_ID", "UCX_TLS", "UCX_NET_DEVICES"};
  const std::vector<std::string> kept = {"UCX_IB_GID_INDEX", "FI_PROVIDER", "PSM2_DEVICES", "UCX_TLS_NONE",
                                         "HOME2"};
  for (const std::string& name : misleading) setenv(name.c_str(), "x", 1);
  for (const std::string& name : kept) setenv(name.c_str(), "x", 1);
  clear_environment();
  for (const std::string& name : misleading) EXPECT_EQ(std::getenv(name.c_str()), nullptr) << name;
  for (const std::string& name : kept) EXPECT_STREQ(std::getenv(name.c_str()), "x") << name;
}

TEST(Directory, IsRemovedWithWhatIsInIt) {
  const std::string path = make_directory();
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_EQ(fs::status(path).permissions() & fs::perms::group_all, fs::perms::none);
  std::ofstream(path + "/segment") << "x";
  remove_directory();
  EXPECT_FALSE(fs::exists(path));
  remove_directory();  // nothing to do
}

/// A process that is killed leaves its directory, and the next one removes it.
TEST(Directory, OfAKilledProcessIsRemovedByTheNext) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string path = make_directory();
    const bool told = write(pipe_ends[1], path.c_str(), path.size()) > 0;
    _exit(told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::string left(200, '\0');
  left.resize(static_cast<std::size_t>(read(pipe_ends[0], left.data(), left.size())));
  EXPECT_TRUE(fs::exists(left)) << left;
  const std::string own = make_directory();
  EXPECT_FALSE(fs::exists(left)) << left;
  EXPECT_TRUE(fs::exists(own));
  remove_directory();
  for (const int end : pipe_ends) close(end);
}

}  // namespace
}  // namespace netdyno::mpi_worker
