#include "kit/ends.h"

#include <pthread.h>

#include <exception>
#include <mutex>
#include <numeric>
#include <utility>

#include "kit/address.h"
#include "kit/descriptor.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

void name_thread(std::size_t loop) {
  pthread_setname_np(pthread_self(), ("loop " + std::to_string(loop)).c_str());
}

/// Runs body(0) … body(n − 1) on a thread each and waits for all. When one
/// throws, abort is called once, so that the others end too; its exception is
/// thrown on.
void run_all(std::size_t n, const std::function<void(std::size_t)>& body,
             const std::function<void()>& abort) {
  std::exception_ptr first;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < n; i++) {
    threads.emplace_back([&, i] {
      name_thread(i);
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (first) return;
        first = std::current_exception();
        abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace

LoopClient::LoopClient(const contract::Setup& setup, Load& load,
                       const std::function<std::unique_ptr<ClientLoop>()>& make)
    : LoopClient(setup, load, make, Work::of(setup)) {}

LoopClient::LoopClient(const contract::Setup& setup, Load& load,
                       const std::function<std::unique_ptr<ClientLoop>()>& make,
                       std::unique_ptr<const Work> work)
    : load_(load), work_(std::move(work)), wanted_(setup.load.connections), options_(setup.options) {
  require_descriptors(wanted_);
  const int lanes = load.lanes();
  for (int lane = 0; lane < lanes; lane++) loops_.push_back(make());
  std::vector<std::vector<Descriptor>> sockets(loops_.size());
  std::atomic<bool> given_up{false};
  const auto connect = [&](std::size_t lane) {
    for (const int fd : connect_lane(setup, *work_, static_cast<int>(lane), lanes, &given_up)) {
      sockets[lane].emplace_back(fd);
    }
  };
  run_all(loops_.size(), connect, [&] { given_up = true; });
  options_ = effective_options(sockets[0][0].get(), setup.options);
  for (std::size_t lane = 0; lane < loops_.size(); lane++) {
    ClientLoop& loop = *loops_[lane];
    for (std::size_t i = 0; i < sockets[lane].size(); i++) {
      const auto slots = load.slots(static_cast<std::int64_t>(lane + i * loops_.size()));
      auto flow = work_->client(static_cast<std::uint32_t>(i), slots, loop.agenda());
      loop.add(sockets[lane][i].release(), std::move(flow), !slots.empty());
    }
  }
}

LoopClient::~LoopClient() = default;

contract::Ready LoopClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = wanted_;
  ready.threads = load_.lanes();
  ready.options = options_;
  return ready;
}

void LoopClient::run() {
  const auto body = [this](std::size_t i) {
    if (!closed_) loops_[i]->run();
  };
  run_all(loops_.size(), body, [this] { stop_loops(); });
  const auto active = [](std::int64_t sum, const auto& loop) { return sum + loop->active_connections(); };
  if (std::accumulate(loops_.begin(), loops_.end(), std::int64_t{0}, active) == 0 && !load_.ended()) {
    throw Failure(ErrorKind::peer, "run load: the peer closed every connection that carried it");
  }
}

void LoopClient::ended() {
  for (const auto& loop : loops_) loop->end(load_.closing());
}

void LoopClient::close() {
  closed_ = true;
  stop_loops();
}

void LoopClient::stop_loops() {
  for (const auto& loop : loops_) loop->stop();
}

std::int64_t LoopClient::connections() const {
  std::int64_t sum = 0;
  for (const auto& loop : loops_) sum += loop->open_connections();
  return sum;
}

contract::Option listener_option() {
  contract::Option listener;
  listener.name = "listener";
  listener.type = contract::OptionType::choice;
  listener.fallback = "shared";
  listener.choices = {"shared", "reuseport"};
  listener.roles = {contract::Role::server};
  listener.doc =
      "who deals connections to loops: one accepting socket in turn, or the kernel by SO_REUSEPORT";
  return listener;
}

contract::Option read_buffer_option() {
  contract::Option buffer;
  buffer.name = "read_buffer";
  buffer.type = contract::OptionType::bytes;
  buffer.unit = "B";
  buffer.fallback = 64 << 10;
  buffer.min = 1;
  buffer.max = 64 << 20;
  buffer.roles = {contract::Role::server};
  buffer.doc = "what one read takes at most, per connection";
  return buffer;
}

LoopServer::LoopServer(const contract::Setup& setup, const std::function<std::unique_ptr<ServerLoop>()>& make)
    : LoopServer(setup, make, Work::of(setup)) {}

LoopServer::LoopServer(const contract::Setup& setup, const std::function<std::unique_ptr<ServerLoop>()>& make,
                       std::unique_ptr<const Work> work)
    : allowed_(setup), work_(std::move(work)), options_(setup.options) {
  const auto buffer = setup.options.value(read_buffer_option().name, std::size_t{64 << 10});
  const bool shared = setup.options.value(listener_option().name, "shared") == "shared";
  for (int i = 0; i < effective_threads(setup); i++) loops_.push_back(make());
  const Listening listening = listen_on(setup, shared ? 1 : static_cast<int>(loops_.size()));
  addresses_ = listening.addresses;
  options_ = effective_options(listening.fds[0][0], setup.options);
  const auto admit = [this, buffer](ServerLoop& target, int fd) {
    Descriptor socket(fd);
    if (!allowed_.accepts(fd) || !prepare_accepted(fd)) return;
    target.adopt(socket.release(), work_->server(buffer, target.traffic));
  };
  for (std::size_t port = 0; port < listening.fds.size(); port++) {
    if (shared) {
      // In turn over all ports, or few connections on many ports would meet on one loop.
      const auto deal = [this, admit](int fd) { admit(*loops_[next_++ % loops_.size()], fd); };
      loops_[port % loops_.size()]->listen(listening.fds[port][0], deal);
      continue;
    }
    for (std::size_t i = 0; i < loops_.size(); i++) {
      loops_[i]->listen(listening.fds[port][i], [admit, &loop = *loops_[i]](int fd) { admit(loop, fd); });
    }
  }
  for (std::size_t i = 0; i < loops_.size(); i++) {
    threads_.emplace_back([this, i] {
      name_thread(i);
      loops_[i]->run();
    });
  }
}

LoopServer::~LoopServer() {
  for (const auto& loop : loops_) loop->stop();
  for (std::thread& thread : threads_) thread.join();
}

contract::Ready LoopServer::ready() const {
  contract::Ready ready;
  ready.addresses = addresses_;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  ready.options = options_;
  return ready;
}

contract::Counts LoopServer::counts() const {
  contract::Counts counts;
  for (const auto& loop : loops_) {
    const Traffic& traffic = loop->traffic;
    counts.exchanges += traffic.exchanges.get();
    counts.received_bytes += traffic.received.get();
    counts.sent_bytes += traffic.sent.get();
    counts.connections += traffic.connections.get();
    counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] += traffic.invalid.get();
    counts.errors[static_cast<std::size_t>(ErrorKind::setup)] += loop->refused;
  }
  return counts;
}

}  // namespace netdyno
