#include "kit/ends.h"

#include "kit/address.h"
#include "kit/echo.h"
#include "kit/numa.h"
#include "kit/options.h"
#include "kit/stream.h"
#include "kit/system.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

std::size_t read_size(const contract::Setup& setup) {
  const auto asked = setup.options.value(kReadBuffer, std::size_t{0});
  if (asked > 0) return asked;
  return setup.exchange.stream == contract::Stream::none ? 64 << 10 : std::size_t{StreamClient::kMaxRead};
}

void add_to(contract::Counts& counts, const Traffic& traffic) {
  counts.exchanges += traffic.exchanges.get();
  counts.received_bytes += traffic.received.get();
  counts.sent_bytes += traffic.sent.get();
  counts.connections += traffic.connections.get();
  counts.errors[static_cast<std::size_t>(ErrorKind::invalid)] += traffic.invalid.get();
}

namespace {

/// The encoded sizes of an exchange's messages, where a codec decides them.
void add_sizes(contract::Ready& ready, const Work& work) {
  const auto sizes = work.encoded();
  if (!sizes) return;
  ready.up_bytes = sizes->up;
  ready.down_bytes = sizes->down;
}

/// How long a client's loops poll, in ns; 0 for those that sleep.
std::int64_t spin_of(const contract::Setup& setup) {
  return setup.options.value(kWait, "event") == "poll" ? setup.options.at(kSpin).get<std::int64_t>() : 0;
}

/// Options wait and spin.
std::vector<contract::Option> pace_options() {
  std::vector<contract::Option> all = {
      choice_option(kWait, {"event", "poll"},
                    "event: a loop sleeps until something happens, and the kernel wakes its CPU; poll: it "
                    "looks again and again, for as long as spin says, and keeps a CPU busy by that"),
      duration_option(kSpin, {1'000'000, 1'000, 100'000'000},
                      "wait=poll: how long after the last event a loop looks for a reply before it sleeps, "
                      "and how long before an exchange is due it wakes to send that on time")};
  for (contract::Option& option : all) option = only(contract::Role::client, std::move(option));
  return all;
}

}  // namespace

LoopClient::LoopClient(const contract::Setup& setup, Load& load,
                       const std::function<std::unique_ptr<ClientLoop>()>& make,
                       std::unique_ptr<const Work> work)
    : dialler_(setup),
      work_(std::move(work)),
      wanted_(setup.load.connections),
      fresh_(setup.load.fresh),
      spin_(spin_of(setup)),
      options_(setup.options),
      loops_(load) {
  require_descriptors(wanted_);
  if (const auto sizes = work_->encoded()) load.encoded(sizes->up, sizes->down);
  if (auto names = work_->paths(); names.size() > 1) load.paths(std::move(names));
  const int shards = load.shards();
  for (int shard = 0; shard < shards; shard++) loops_.add(make());
  std::vector<std::vector<Descriptor>> sockets(loops_.size());
  const auto connect = [&](std::size_t shard) {
    sockets[shard] = connect_shard(setup, *work_, static_cast<int>(shard), shards, opening_);
  };
  contract::telling([this] { return opening_.sent(); },
                    [&] { run_all(loops_.size(), connect, [&] { opening_.cancelled = true; }); });
  options_ = effective_options(sockets[0][0].get(), setup.options);
  for (std::size_t shard = 0; shard < loops_.size(); shard++) {
    ClientLoop& loop = loops_[shard];
    loop.pace().spin(spin_);
    if (setup.load.rate > 0) loop.agenda().gather(setup.load.gather_ns);
    loop.redials([this, shard](std::size_t i) {
      Descriptor socket = dialler_.dial(static_cast<std::int64_t>(shard + i * loops_.size()));
      if (socket.get() < 0 && errno == EADDRNOTAVAIL) {
        throw contract::Failure(contract::ErrorKind::setup,
                                "connect again: " + std::generic_category().message(errno) + kNoPort);
      }
      return socket;
    });
    for (std::size_t i = 0; i < sockets[shard].size(); i++) {
      const auto connection = static_cast<std::int64_t>(shard + i * loops_.size());
      const auto slots = load.slots(connection);
      if (!slots.empty() && slots[0].tells_stages()) loop.tells_connects(slots[0]);
      auto flow = work_->client({connection, static_cast<std::uint32_t>(i), slots, loop.agenda()});
      loop.add(sockets[shard][i].release(), std::move(flow), !slots.empty());
    }
  }
}

LoopClient::~LoopClient() = default;

contract::Ready LoopClient::ready() const {
  contract::Ready ready;
  ready.connections = ready.verified = wanted_;
  ready.repeated = opening_.repeated;
  ready.threads = static_cast<std::int64_t>(loops_.size());
  ready.options = options_;
  ready.polls = spin_ > 0;
  ready.nodes = Nodes::here().of_loops(loops_.size());
  add_sizes(ready, *work_);
  return ready;
}

/// With fresh, a connection for every exchange is what was asked for.
std::int64_t LoopClient::redialled() const {
  if (fresh_) return 0;
  std::int64_t all = 0;
  for (std::size_t i = 0; i < loops_.size(); i++) all += loops_[i].redialled();
  return all;
}

contract::Option listener_option() {
  return only(
      contract::Role::server,
      choice_option(kListener, {"shared", "reuseport"},
                    "how connections reach loops: shared, one accepting socket deals them out in turn; "
                    "reuseport, the kernel chooses by SO_REUSEPORT"));
}

contract::Option read_buffer_option() {
  return only(
      contract::Role::server,
      raced(bytes_option(
                kReadBuffer, {0, 0, 64 << 20},
                "the most that one read takes, per connection; 0 means 64 KiB, or 128 KiB for streams"),
            {"16KiB", "256KiB", "1MiB"}));
}

std::vector<contract::Option> joined(std::vector<contract::Option> options,
                                     const std::vector<contract::Option>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

std::vector<contract::Option> loop_options() {
  auto all = joined(joined(socket_options(), {listener_option()}), pace_options());
  all.push_back(read_buffer_option());
  return all;
}

contract::Transport paced(contract::Transport transport) {
  transport.options = joined(std::move(transport.options), pace_options());
  transport.features.emplace_back("gather");
  return transport;
}

contract::Transport loop_transport(const std::string& name, const std::string& doc,
                                   std::vector<contract::Option> more) {
  contract::Transport transport;
  transport.name = name;
  transport.doc = doc;
  transport.wire = kEcho;
  transport.roles = {contract::Role::server, contract::Role::client};
  transport.delivery = "chunks";
  transport.options = joined(joined(socket_options(), {listener_option(), read_buffer_option()}), more);
  transport.features = {"stream-up", "stream-down", "stream-both", "events",
                        "stages",    "turns",       "work-cpu",    "work-sleep"};
  return transport;
}

LoopServer::LoopServer(const contract::Setup& setup, const std::function<std::unique_ptr<ServerLoop>()>& make,
                       std::unique_ptr<const Work> work)
    : allowed_(setup), work_(std::move(work)), options_(setup.options) {
  const std::size_t buffer = read_size(setup);
  const bool shared = setup.options.value(kListener, "shared") == "shared";
  for (int i = 0; i < effective_threads(setup); i++) loops_.push_back(make());
  const Listening listening = listen_on(setup, shared ? 1 : static_cast<int>(loops_.size()));
  addresses_ = listening.addresses;
  options_ = effective_options(listening.fds[0][0], setup.options);
  options_[kReadBuffer] = buffer;
  const auto admit = [this, buffer](ServerLoop& target, int fd) {
    Descriptor socket(fd);
    if (!allowed_.accepts(fd) || !prepare_accepted(fd)) return;
    target.adopt(socket.release(), work_->server(buffer, target.traffic));
  };
  for (std::size_t port = 0; port < listening.fds.size(); port++) {
    if (shared) {
      // In turn over all ports, else few connections on many ports would share one loop.
      const auto deal = [this, admit](int fd) { admit(*loops_[next_++ % loops_.size()], fd); };
      loops_[port % loops_.size()]->listen(listening.fds[port][0], deal);
      continue;
    }
    for (std::size_t i = 0; i < loops_.size(); i++) {
      loops_[i]->listen(listening.fds[port][i], [admit, &loop = *loops_[i]](int fd) { admit(loop, fd); });
    }
  }
  for (std::size_t i = 0; i < loops_.size(); i++) {
    threads_.emplace_back([this, i, nodes = Nodes::here()] {
      name_thread("loop " + std::to_string(i));
      nodes.keep(i, loops_.size());
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
  ready.nodes = Nodes::here().of_loops(loops_.size());
  ready.options = options_;
  add_sizes(ready, *work_);
  return ready;
}

contract::Counts LoopServer::counts() const {
  contract::Counts counts;
  for (const auto& loop : loops_) {
    add_to(counts, loop->traffic);
    counts.errors[static_cast<std::size_t>(ErrorKind::setup)] += loop->refused;
  }
  allowed_.add_to(counts);
  return counts;
}

}  // namespace netdyno
