// What the kit's ends do when a library goes wrong: message-worker can be told to, and
// these tests are for it alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/executable.h"
#include "test/worker_process.h"

namespace netdyno::test {
namespace {

Json with_options(const Json& options) { return {{"options", options}}; }

TEST(Frames, WrongContentIsInvalid) {
  EchoServer server(executable(), with_options({{"fault", "content"}}));
  ToldClient client(executable(), server.address(), Json::object());
  const Json error = client.worker.expect_error("invalid", true);
  EXPECT_NE(error.at("text").get<std::string>().find("verify connection "), std::string::npos) << error;
}

TEST(Frames, MessagesThatNobodyAskedForAreInvalid) {
  EchoServer server(executable(), with_options({{"fault", "surplus"}}));
  ToldClient client(executable(), server.address(), Json::object());
  EXPECT_NO_THROW(client.worker.expect_error("invalid", true));
}

TEST(Frames, TheWayIsToldByCounters) {
  for (const auto& [sockets, over] : {std::pair{"tcp", "tcp"}, {"unix", "shm"}}) {
    for (const char* wait : {"poll", "event"}) {
      const Json change = with_options({{"sockets", sockets}, {"over", over}, {"wait", wait}});
      EchoServer server(executable(), change);
      EXPECT_EQ(server.ready().value("polls", false), std::string(wait) == "poll");
      ToldClient client(executable(), server.address(), change);
      const Json ready = client.worker.expect("ready");
      EXPECT_EQ(ready.at("path").at("over"), over);
      EXPECT_EQ(ready.at("path").at("by"), std::string("frames/") + sockets);
    }
  }
}

TEST(Frames, AnotherWayThanAskedForFailsTheTrial) {
  for (const auto& [sockets, over] : {std::pair{"tcp", "shm"}, {"unix", "tcp"}, {"unix", "rdma"}}) {
    const Json change = with_options({{"sockets", sockets}, {"over", over}});
    EchoServer server(executable(), change);
    ToldClient client(executable(), server.address(), change);
    const Json error = client.worker.expect_error("setup", true);
    EXPECT_NE(error.at("text").get<std::string>().find(std::string("expected ") + over), std::string::npos)
        << error;
  }
}

}  // namespace
}  // namespace netdyno::test
