// The worker on a host without a device for RDMA: it says so, and what was looked at.
// What it does with one is tested in a guest that has one (make test-rdma).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "test/executable.h"
#include "test/worker_process.h"

namespace netdyno::verbs {
namespace {

using test::Json;
using test::WorkerProcess;

TEST(Worker, WithoutADeviceIsUnsupportedAndSaysWhy) {
  if (std::filesystem::exists("/sys/class/infiniband")) GTEST_SKIP() << "this host has RDMA";
  WorkerProcess worker(test::beside(NETDYNO_WORKER));
  const Json hello = worker.expect("hello");
  EXPECT_EQ(hello.at("transports").at(0).at("name"), "verbs");
  EXPECT_EQ(hello.at("transports").at(0).at("wire"), "verbs");
  worker.send({{"setup",
                {{"trial", "t"},
                 {"transport", "verbs"},
                 {"role", "server"},
                 {"seed", 1},
                 {"listen", "127.0.0.1:0"},
                 {"allow", {"127.0.0.1"}},
                 {"exchange", {{"up_bytes", 64}, {"down_bytes", 64}}}}}});
  const Json error = worker.expect_error("unsupported", true);
  EXPECT_NE(error.at("text").get<std::string>().find("/sys/class/infiniband"), std::string::npos) << error;
}

}  // namespace
}  // namespace netdyno::verbs
