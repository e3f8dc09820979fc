// Failures in words: what was found, what was expected, what helps.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "verbs/channel.h"

namespace netdyno::verbs {
namespace {

namespace fs = std::filesystem;

TEST(Reasons, OfMemoryNameBothNumbers) {
  const std::string text = reason_of(Refused{ENOMEM, 4'194'304, 8'000'000, 8'388'608});
  for (const char* part : {"4194304", "8000000", "8388608", "ulimit -l unlimited", "LimitMEMLOCK"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
  EXPECT_EQ(reason_of(Refused{ENOMEM, 1, 0, RLIM_INFINITY}).find("ulimit"), std::string::npos)
      << "no limit is not too small";
  EXPECT_EQ(reason_of(Refused{EINVAL, 1, 0, 8'388'608}).find("ulimit"), std::string::npos);
}

TEST(Reasons, OfCompletionsSayWhatItMeans) {
  ibv_wc completion{};
  completion.status = IBV_WC_RETRY_EXC_ERR;
  EXPECT_NE(reason_of(completion).find("did not acknowledge"), std::string::npos);
  completion.status = IBV_WC_RNR_RETRY_EXC_ERR;
  completion.vendor_err = 0x81;
  EXPECT_NE(reason_of(completion).find("posted no buffer"), std::string::npos);
  EXPECT_NE(reason_of(completion).find("129"), std::string::npos);
}

/// A directory that goes with the test.
struct Root {
  Root() {
    std::string name = (fs::temp_directory_path() / "verbs-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Root() { fs::remove_all(path); }
  fs::path path;
};

TEST(Reasons, OfAHostWithoutDevicesSayWhatWasLookedAt) {
  const Root root;
  EXPECT_NE(why_no_device(root.path).find("/sys/class/infiniband does not exist"), std::string::npos);
  fs::create_directories(root.path / "sys/class/infiniband");
  EXPECT_NE(why_no_device(root.path).find("is empty"), std::string::npos);
  fs::create_directories(root.path / "sys/class/infiniband/mlx5_0");
  EXPECT_NE(why_no_device(root.path).find("modprobe ib_uverbs"), std::string::npos);
  fs::create_directories(root.path / "dev/infiniband");
  EXPECT_NE(why_no_device(root.path).find("ibverbs-providers"), std::string::npos);
}

}  // namespace
}  // namespace netdyno::verbs
