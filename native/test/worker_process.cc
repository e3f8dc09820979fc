#include "test/worker_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace netdyno::test {

WorkerProcess::WorkerProcess(const std::string& executable) {
  int in[2];
  int out[2];
  // Close-on-exec: a sibling must not hold this worker's stdin open.
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execl(executable.c_str(), executable.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  in_ = in[1];
  out_ = out[0];
}

WorkerProcess::~WorkerProcess() {
  close_stdin();
  if (pid_ > 0 && !wait()) kill();
  close(out_);
}

void WorkerProcess::send_line(const std::string& line) {
  const std::string bytes = line + "\n";
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = write(in_, bytes.data() + written, bytes.size() - written);
    if (n <= 0) throw std::runtime_error("write to worker: it does not listen");
    written += static_cast<std::size_t>(n);
  }
}

std::optional<Json> WorkerProcess::next(int timeout_ms) {
  for (;;) {
    const auto newline = buffer_.find('\n');
    if (newline != std::string::npos) {
      Json message = Json::parse(buffer_.substr(0, newline));
      buffer_.erase(0, newline + 1);
      return message;
    }
    pollfd ready{out_, POLLIN, 0};
    if (poll(&ready, 1, timeout_ms) <= 0) return std::nullopt;
    char chunk[65536];
    const ssize_t n = read(out_, chunk, sizeof chunk);
    if (n <= 0) return std::nullopt;
    buffer_.append(chunk, static_cast<std::size_t>(n));
  }
}

Json WorkerProcess::expect(const std::string& name, int timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    auto message = next(static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (!message) throw std::runtime_error("expected " + name + ", nothing came");
    if (message->contains(name)) return message->at(name);
    if (!message->contains("tick"))
      throw std::runtime_error("expected " + name + ", came " + message->dump());
    ticks_++;
  }
}

Json WorkerProcess::expect_error(const std::string& kind, bool fatal, int timeout_ms) {
  Json error = expect("error", timeout_ms);
  if (error.at("kind") != kind || error.value("fatal", false) != fatal) {
    throw std::runtime_error("expected error " + kind + (fatal ? ", fatal" : "") + ", came " + error.dump());
  }
  return error;
}

void WorkerProcess::close_stdin() {
  if (in_ >= 0) close(std::exchange(in_, -1));
}

std::optional<int> WorkerProcess::wait() {
  for (int ms = 0; ms < kTimeoutMs; ms += 10) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

void WorkerProcess::kill() {
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Json setup_message(const Json& transport, const std::string& role, const std::string& peer) {
  Json setup = {{"trial", "vector"},
                {"transport", transport},
                {"role", role},
                {"seed", 1},
                {"exchange", {{"up_bytes", 64}, {"down_bytes", 64}}},
                {"load", {{"connections", role == "client" ? 2 : 0}}}};
  if (role == "client") {
    setup["peers"] = {peer};
  } else {
    setup["listen"] = "127.0.0.1:0";
  }
  return setup;
}

bool offers(const std::string& executable, const std::string& option) {
  WorkerProcess worker(executable);
  const Json options = worker.expect("hello").at("transports").at(0).at("options");
  return std::any_of(options.begin(), options.end(),
                     [&](const Json& offered) { return offered.at("name") == option; });
}

ToldClient::ToldClient(const std::string& executable, const std::string& peer, const Json& change)
    : worker(executable) {
  const Json hello = worker.expect("hello");
  Json setup = setup_message(hello.at("transports").at(0).at("name"), "client", peer);
  setup.update(change);
  worker.send({{"setup", setup}});
}

EchoServer::EchoServer(const std::string& executable, const Json& change) : worker_(executable) {
  const Json hello = worker_.expect("hello");
  Json setup = setup_message(hello.at("transports").at(0).at("name"), "server", "");
  setup.update(change);
  worker_.send({{"setup", setup}});
  ready_ = worker_.expect("ready");
}

Json EchoServer::counts(std::int64_t exchanges) {
  Json counts;
  for (int id = 1; id <= kTimeoutMs / 10; id++) {
    worker_.send({{"mark", {{"id", id}}}});
    counts = worker_.expect("mark").at("reading").at("counts");
    if (counts.at("exchanges") >= exchanges) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return counts;
}

void expect_all_exchanged(const std::string& executable, const Json& server_change,
                          const Json& client_change) {
  const Json& exchange = client_change.at("exchange");
  const Json& load = client_change.at("load");
  SCOPED_TRACE(client_change.dump());
  EchoServer server(executable, server_change);
  ToldClient client(executable, server.address(), client_change);
  client.worker.expect("ready");
  client.worker.send({{"start", Json::object()}});
  const Json counts = client.worker.expect("result").at("counts");
  const auto connections = load.at("connections").get<std::int64_t>();
  const std::int64_t done = connections * load.at("amount").get<std::int64_t>();
  EXPECT_EQ(counts.at("exchanges"), done);
  EXPECT_FALSE(counts.contains("errors")) << counts;
  const std::int64_t all = done + connections;  // with the verified ones
  const Json served = server.counts(all);
  EXPECT_EQ(served.at("exchanges"), all);
  EXPECT_EQ(served.at("received_bytes"), all * exchange.at("up_bytes").get<std::int64_t>());
  EXPECT_EQ(served.at("sent_bytes"), all * exchange.at("down_bytes").get<std::int64_t>());
}

std::string name_of(const Json& options) {
  std::string name = options.dump();
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}

}  // namespace netdyno::test
