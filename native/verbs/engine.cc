#include "verbs/engine.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "kit/address.h"
#include "kit/options.h"
#include "kit/system.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::send:
      return "send";
    case Operation::write:
      return "write";
    case Operation::read:
      return "read";
  }
  return "unknown";
}

Settings Settings::of(const contract::Options& options) {
  Settings settings;
  const auto operation = options.at("operation").get<std::string>();
  for (const Operation each : {Operation::send, Operation::write, Operation::read}) {
    if (operation == name(each)) settings.operation = each;
  }
  settings.inline_bytes = options.at("inline").get<std::uint32_t>();
  settings.window = options.at("window").get<std::uint32_t>();
  settings.waits = options.at("wait") == "event";
  if (const auto device = options.at("device").get<std::string>(); device != "auto") settings.device = device;
  settings.gid_index = options.at("gid_index").get<int>();
  if (const auto mtu = options.at("mtu").get<std::string>(); mtu != "auto") {
    settings.mtu_bytes = static_cast<std::uint32_t>(std::stoul(mtu));
  }
  return settings;
}

std::vector<contract::Option> setting_options() {
  return {
      choice_option(
          "operation", {"send", "write", "read"},
          "how a message travels: sent into a posted buffer, written into the receiver's ring with an "
          "immediate, or announced and read by the receiver; both ends must agree"),
      memory_option(),
      choice_option(
          "wait", {"poll", "event"},
          "what a thread does with nothing to do: ask the completion queue again, or sleep until the "
          "card's event"),
      integer_option(
          "window", {64, 1, 4096},
          "messages outstanding on a connection; fewer where 64 MiB of receive buffers hold fewer"),
      bytes_option("inline", {64, 0, 4096},
                   "messages up to this size go to the card with the request itself"),
      text_option("device", "auto",
                  "RDMA device, as ibv_devices names it; auto takes the one of the trial's address"),
      integer_option("gid_index", {-1, -1, 255},
                     "index of the port's GID; -1 takes the one of the trial's address"),
      choice_option("mtu", {"auto", "256", "512", "1024", "2048", "4096"},
                    "bytes of a packet's payload; auto takes the port's"),
  };
}

namespace {

/// Completions that are polled at once.
constexpr int kBatch = 32;
/// What the queue holds at first.
constexpr std::uint32_t kFirstCompletions = 1024;

bool is_wildcard(const std::string& address) {
  return address.empty() || address == "0.0.0.0" || address == "::";
}

std::string own_address(int fd) {
  Endpoint own;
  if (getsockname(fd, own.get(), &own.size) != 0) return {};
  return own.address().host;
}

}  // namespace

Engine::Engine(const MessageTerms& terms)
    : settings_(Settings::of(terms.setup.options)),
      store_(Store::of(terms.setup.options)),
      max_message_(terms.max_message) {
  if (!is_wildcard(terms.host)) open_card(terms.host);
}

void Engine::open_card(const std::string& address) {
  auto shared = std::make_unique<Shared>(settings_, store_, address);
  ibv_context& context = shared->card.context();
  if (settings_.waits) {
    shared->events.reset(ibv_create_comp_channel(&context));
    if (!shared->events) throw Failure(ErrorKind::setup, failed("make a channel for events"));
    fcntl(shared->events->fd, F_SETFL, O_NONBLOCK);
  }
  const int size = std::min(static_cast<int>(kFirstCompletions), shared->card.limits().max_cqe);
  shared->completions.reset(ibv_create_cq(&context, size, nullptr, shared->events.get(), 0));
  if (!shared->completions) {
    throw Failure(ErrorKind::setup, failed("make a queue of " + std::to_string(size) + " completions"));
  }
  shared_ = std::move(shared);
}

/// Has the queue hold the completions of one more connection.
void Engine::make_room(std::uint32_t completions) {
  expected_ += completions;
  const int most = shared_->card.limits().max_cqe;
  const int now = shared_->completions->cqe;
  if (expected_ <= static_cast<std::uint32_t>(now)) return;
  const int wanted = std::max(2 * now, static_cast<int>(expected_));
  const int size = std::min(wanted, most);
  if (static_cast<std::uint32_t>(size) < expected_) {
    throw Failure(ErrorKind::setup, "a thread's connections need a queue of " + std::to_string(expected_) +
                                        " completions, and the device has " + std::to_string(most) +
                                        "; use more threads, or a smaller opt.window");
  }
  errno = ibv_resize_cq(shared_->completions.get(), size);
  if (errno != 0)
    throw Failure(ErrorKind::setup, failed("enlarge the queue to " + std::to_string(size) + " completions"));
}

std::unique_ptr<MessageChannel> Engine::open(int control, std::uint32_t) {
  if (!shared_) open_card(own_address(control));
  make_room(Channel::completions_of(settings_, max_message_));
  auto channel = std::make_unique<Channel>(*shared_, max_message_);
  channel->connect(decode(exchange_addresses(control, encode(channel->greeting()))));
  // A message that came before the other end can take it would wait for a retry.
  exchange_addresses(control, "ready");
  return channel;
}

bool Engine::progress(Arrivals& arrivals) {
  if (!shared_) return false;
  std::array<ibv_wc, kBatch> batch;
  const int count = ibv_poll_cq(shared_->completions.get(), kBatch, batch.data());
  if (count < 0) throw Failure(ErrorKind::setup, failed("poll the queue of completions"));
  std::array<Channel*, kBatch> touched{};
  std::size_t channels = 0;
  for (int i = 0; i < count; i++) {
    const ibv_wc& completion = batch[static_cast<std::size_t>(i)];
    const auto at = shared_->channels.find(completion.qp_num);
    if (at == shared_->channels.end()) continue;  // of a connection that is closed
    at->second->completed(completion, arrivals);
    const auto end = touched.begin() + static_cast<std::ptrdiff_t>(channels);
    if (std::find(touched.begin(), end, at->second) == end) touched[channels++] = at->second;
  }
  for (std::size_t i = 0; i < channels; i++) {
    try {
      touched[i]->settle();
    } catch (const Failure& failure) {
      arrivals.lost(*touched[i], failure.what());
    }
  }
  return count > 0;
}

/// The first call has the card tell of the next completion, and returns: one may have
/// come just before. The next one sleeps.
void Engine::wait(std::int64_t until_ns, int wake) {
  if (shared_ && !std::exchange(armed_, true)) {
    errno = ibv_req_notify_cq(shared_->completions.get(), 0);
    if (errno != 0) throw Failure(ErrorKind::setup, failed("ask for an event"));
    return;
  }
  std::array<pollfd, 2> asked = {{{wake, POLLIN, 0}, {shared_ ? shared_->events->fd : -1, POLLIN, 0}}};
  const std::int64_t left = std::max<std::int64_t>(0, until_ns - now_ns());
  const timespec timeout{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  if (ppoll(asked.data(), asked.size(), &timeout, nullptr) <= 0 || asked[1].revents == 0) return;
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(shared_->events.get(), &queue, &context) != 0) return;
  ibv_ack_cq_events(queue, 1);
  armed_ = false;
}

std::string Engine::path(const MessageChannel&) const {
  const Candidate& port = shared_->card.port();
  return "rc/" + port_name(port) + " gid " + std::to_string(port.gid_index) + " mtu " +
         std::to_string(shared_->card.mtu_bytes());
}

}  // namespace netdyno::verbs
