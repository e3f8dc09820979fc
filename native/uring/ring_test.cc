// What a ring guarantees its owners, and its errors where io_uring is not allowed.
#include "uring/ring.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <thread>
#include <vector>

#include "kit/system.h"
#include "test/executable.h"
#include "test/worker_process.h"
#include "uring/loop.h"

namespace netdyno::uring_worker {

using contract::ErrorKind;
using contract::Failure;
using test::Json;

namespace {

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    near = Descriptor(fds[0]);
    far = Descriptor(fds[1]);
  }
  Descriptor near;
  Descriptor far;
};

/// Skips every test, with the reason, where this machine allows no io_uring.
class Allowed final : public testing::Environment {
  void SetUp() override {
    try {
      const Ring ring(Settings{});
    } catch (const Failure& failure) {
      if (failure.kind() != ErrorKind::unsupported) throw;
      GTEST_SKIP() << failure.what();
    }
  }
};
const testing::Environment* const allowed = testing::AddGlobalTestEnvironment(new Allowed);

/// Records its completions.
class Recorder final : public Owner {
 public:
  void completed(const Completion& completion) override { heard.push_back(completion); }
  std::vector<Completion> heard;
};

/// Runs body without cancelling anything itself.
void run(Ring& ring, const std::function<void()>& body) {
  ring.run(body, [] {});
}

/// Runs body on a thread whose io_uring_setup fails with error, as in a sandbox or on an old
/// kernel. The same holds for processes that the thread starts.
void without_io_uring(int error, const std::function<void()>& body) {
  std::thread([&] {
    std::array filter{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{filter.size(), filter.data()};
    ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    body();
  }).join();
}

TEST(Ring, TellsOwnersOfTheirOperations) {
  Pair pair;
  Ring ring(Settings{});
  Recorder sender;
  Recorder receiver;
  std::array<char, 8> bytes{};
  run(ring, [&] {
    const File near = ring.keep(pair.near.get());
    const File far = ring.keep(pair.far.get());
    EXPECT_GE(near.slot, 0);
    EXPECT_NE(near.slot, far.slot);
    io_uring_sqe* submission = ring.prepare();
    io_uring_prep_recv(submission, 0, bytes.data(), bytes.size(), 0);
    ring.submit(submission, far, receiver, Op::receive);
    submission = ring.prepare();
    io_uring_prep_send(submission, 0, "dyno", 4, 0);
    ring.submit(submission, near, sender, Op::send);
    while (receiver.heard.empty() || sender.heard.empty()) {
      ring.wait();
      ring.deliver();
    }
  });
  EXPECT_EQ(sender.heard.at(0).op, Op::send);
  EXPECT_EQ(receiver.heard.at(0).op, Op::receive);
  EXPECT_EQ(receiver.heard.at(0).result, 4);
  EXPECT_STREQ(bytes.data(), "dyno");
}

TEST(Ring, TakesMoreSubmissionsAndCompletionsThanItHolds) {
  Settings settings;
  settings.entries = 8;
  Ring ring(settings);
  Recorder recorder;
  run(ring, [&] {
    for (int i = 0; i < 1'000; i++) {
      io_uring_sqe* const submission = ring.prepare();
      io_uring_prep_nop(submission);
      ring.submit(submission, recorder, Op::send);
    }
    while (recorder.heard.size() < 1'000) {
      ring.wait();
      ring.deliver();
    }
  });
  EXPECT_EQ(recorder.heard.size(), 1'000U);
}

/// Submits every completed operation again.
class Echo final : public Owner {
 public:
  explicit Echo(Ring& ring) : ring_(ring) {}
  void completed(const Completion&) override {
    io_uring_sqe* const submission = ring_.prepare();
    io_uring_prep_nop(submission);
    ring_.submit(submission, *this, Op::send);
    told++;
  }
  int told = 0;

 private:
  Ring& ring_;
};

TEST(Ring, TellsOfWhatHasCompletedAndNotOfWhatDoesSoMeanwhile) {
  Settings settings;
  settings.entries = 8;
  Ring ring(settings);
  Echo echo(ring);
  run(ring, [&] {
    for (int i = 0; i < 24; i++) echo.completed({});
    ring.wait();
    echo.told = 0;
    ring.deliver();
    EXPECT_GE(echo.told, 24);
    EXPECT_LE(echo.told, 32) << "as many as the ring holds at once";
  });
}

TEST(Ring, LeavesNothingUnderWay) {
  Pair pair;
  Ring ring(Settings{});
  Recorder recorder;
  auto bytes = std::make_unique<std::array<char, 8>>();
  const auto submit_and_throw = [&] {
    io_uring_sqe* const submission = ring.prepare();
    io_uring_prep_recv(submission, 0, bytes->data(), bytes->size(), 0);
    ring.submit(submission, ring.keep(pair.near.get()), recorder, Op::receive);
    ring.look();
    throw Failure(ErrorKind::peer, "broken off");
  };
  EXPECT_THROW(run(ring, submit_and_throw), Failure);
  EXPECT_TRUE(recorder.heard.empty()) << "nobody hears of what was taken back";
  EXPECT_EQ(send(pair.far.get(), "late", 4, 0), 4);
  EXPECT_EQ(recv(pair.near.get(), bytes->data(), bytes->size(), MSG_DONTWAIT), 4)
      << "nobody else received it";
}

TEST(Ring, CancelsByName) {
  Pair pair;
  Ring ring(Settings{});
  Recorder recorder;
  char byte = 0;
  const auto receive = [&] {
    io_uring_sqe* const submission = ring.prepare();
    io_uring_prep_recv(submission, 0, &byte, 1, 0);
    ring.submit(submission, ring.keep(pair.near.get()), recorder, Op::receive);
    ring.look();
    ring.cancel(recorder, Op::send);  // there is none
    ring.cancel(recorder, Op::receive);
    while (recorder.heard.empty()) {
      ring.wait();
      ring.deliver();
    }
  };
  run(ring, receive);
  ASSERT_EQ(recorder.heard.size(), 1U);
  EXPECT_EQ(recorder.heard[0].result, -ECANCELED);
}

TEST(Ring, WaitsNoLessThanUntilTheInstant) {
  Ring ring(Settings{});
  run(ring, [&] {
    for (const std::int64_t ns : {-1'000'000, 0, 1, 50'000, 3'000'000}) {
      const std::int64_t until = now_ns() + ns;
      ring.wait(until);
      EXPECT_GE(now_ns(), until);
    }
  });
}

TEST(Alarm, WakesAtTheEarliestInstant) {
  Ring ring(Settings{});
  Alarm alarm(ring);
  run(ring, [&] {
    constexpr std::int64_t kHour = 3'600'000'000'000;
    const std::int64_t began = now_ns();
    alarm.set(began + kHour);
    ring.look();
    const std::int64_t at = now_ns() + 3'000'000;
    alarm.set(at);
    alarm.set(at + 1'000'000'000);  // has no effect: it wakes before
    ring.wait();                    // which ends when the kernel has taken the new instant, or it has come
    ring.deliver();
    if (now_ns() < at) {
      ring.wait();
      ring.deliver();
    }
    EXPECT_GE(now_ns(), at);
    EXPECT_LT(now_ns() - began, kHour / 60);
    for (const std::int64_t ns : {1'000'000, 2'000'000}) {  // it can be set again
      const std::int64_t until = now_ns() + ns;
      alarm.set(until);
      ring.wait();
      ring.deliver();
      if (now_ns() < until) {  // it was the completion of the instant before, on a busy machine
        ring.wait();
        ring.deliver();
      }
      EXPECT_GE(now_ns(), until);
    }
    alarm.set(now_ns() + kHour);
    alarm.cancel();
  });
}

TEST(Ring, ForgetsFiles) {
  Ring ring(Settings{});
  run(ring, [&] {
    int slot = -1;
    for (int i = 0; i < 3; i++) {
      Pair pair;
      const File file = ring.keep(pair.near.get());
      if (i > 0) {
        EXPECT_EQ(file.slot, slot);
      }
      slot = file.slot;
      ring.forget(file);
      pair.near = Descriptor();
      char byte;
      EXPECT_EQ(recv(pair.far.get(), &byte, 1, MSG_DONTWAIT), 0) << "the ring still holds the other end";
    }
  });
}

TEST(Ring, SaysWhyThereIsNone) {
  const std::vector<std::pair<int, std::string>> reasons = {
      {ENOSYS, "has no io_uring"}, {EPERM, "forbids it"}, {EINVAL, "expected the io_uring of Linux 6.0"}};
  for (const auto& [error, reason] : reasons) {
    without_io_uring(error, [&reason = reason] {
      try {
        const Ring ring(Settings{});
        ADD_FAILURE() << "a ring without io_uring";
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::unsupported);
        EXPECT_NE(std::string(failure.what()).find(reason), std::string::npos) << failure.what();
      }
    });
  }
}

TEST(UringWorker, SaysHelloWhereThereIsNoIoUring) {
  without_io_uring(EPERM, [] {
    for (const std::string role : {"server", "client"}) {
      test::WorkerProcess worker(test::beside(NETDYNO_WORKER));
      EXPECT_EQ(worker.expect("hello").at("transports").at(0).at("name"), "uring");
      worker.send({{"setup", test::setup_message("uring", role, "127.0.0.1:1")}});
      Json error;
      ASSERT_NO_THROW(error = worker.expect_error("unsupported", true)) << role;
      EXPECT_TRUE(error.at("text").get<std::string>().starts_with("set up io_uring: ")) << error;
    }
  });
}

}  // namespace
}  // namespace netdyno::uring_worker
