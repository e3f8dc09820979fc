// Runs contract/vectors/conversation.json against a worker executable, which is
// this program's one argument.
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "test/executable.h"
#include "test/vectors.h"
#include "test/worker_process.h"

namespace netdyno::test {

std::string& executable() {
  static std::string path;
  return path;
}

namespace {

/// Whether message holds all that part holds; an absent number is 0.
bool contains(const Json& message, const Json& part) {
  for (const auto& [key, value] : part.items()) {
    const Json found = message.value(key, value.is_number() ? Json(0) : Json());
    if (value.is_object() ? !contains(found, value) : found != value) return false;
  }
  return true;
}

class Conversation {
 public:
  Conversation() : server_(executable()), worker_(executable()) {}

  void run(const Json& vector) {
    for (const Json& step : vector.at("steps")) {
      SCOPED_TRACE(vector.at("name").get<std::string>() + ": " + step.dump());
      take(step);
      if (testing::Test::HasFatalFailure()) return;
    }
    const auto status = worker_.wait();
    ASSERT_TRUE(status) << "it did not end";
    if (vector.value("exit", Json(0)) != "any") {
      EXPECT_EQ(*status, vector.value("exit", 0));
    }
  }

 private:
  void take(const Json& step) {
    if (step.contains("expect")) {
      expect(step);
    } else if (step.contains("setup")) {
      worker_.send({{"setup", setup_of(step)}});
    } else if (step.contains("send")) {
      worker_.send(step.at("send"));
    } else if (step.contains("raw")) {
      worker_.send_line(expand(step.at("raw")));
    } else if (step.contains("eof")) {
      worker_.close_stdin();
    } else if (step.contains("none")) {
      while (const auto message = worker_.next(2'000)) {
        EXPECT_FALSE(message->contains(step.at("none").get<std::string>())) << *message;
      }
    } else {
      FAIL() << "a step that this runner does not know";
    }
  }

  void expect(const Json& step) {
    const std::string name = step.at("expect");
    Json body;
    ASSERT_NO_THROW(body = worker_.expect(name));
    if (name == "hello") transport_ = body.at("transports").at(0).at("name");
    if (step.contains("has")) {
      EXPECT_TRUE(contains({{name, body}}, step.at("has"))) << body;
    }
    if (step.contains("fatal")) {
      EXPECT_EQ(body.value("fatal", false), step.at("fatal").get<bool>());
    }
  }

  Json setup_of(const Json& step) {
    Json setup = setup_message(transport_, step.at("setup"), step.value("peer", server_.address()));
    for (const char* key : {"transport", "options", "load"}) {
      if (step.contains(key)) setup[key] = step.at(key);
    }
    return setup;
  }

  EchoServer server_;
  WorkerProcess worker_;
  std::string transport_;
};

/// Skips every test, with the reason, if this machine does not allow io_uring: a worker on it
/// refuses every setup then. Any other refusal fails the tests.
class Allowed final : public testing::Environment {
  void SetUp() override {
    WorkerProcess worker(executable());
    const Json hello = worker.expect("hello");
    worker.send({{"setup", setup_message(hello.at("transports").at(0).at("name"), "server", "")}});
    const auto answer = worker.next();
    if (!answer || !answer->contains("error")) return;
    const Json& error = answer->at("error");
    const std::string text = error.at("text");
    if (error.at("kind") == "unsupported" && text.starts_with("set up io_uring: ")) GTEST_SKIP() << text;
  }
};

TEST(Conversation, Vectors) {
  for (const Json& vector : vectors("conversation.json")) Conversation().run(vector);
}

}  // namespace
}  // namespace netdyno::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s WORKER\n", argv[0]);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a worker that dies is a failed write, not our death
  netdyno::test::executable() = argv[1];
  testing::AddGlobalTestEnvironment(new netdyno::test::Allowed);
  return RUN_ALL_TESTS();
}
