#include "ucx/engine.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kit/path.h"
#include "kit/system.h"
#include "ucx/operations.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// How long an engine waits at its end for what is under way.
constexpr std::int64_t kEndNs = 300'000'000;

}  // namespace

Engine::Engine(const MessageTerms& terms, const Settings& settings)
    : settings_(settings),
      max_message_(terms.max_message),
      store_(Store::of(terms.setup.options)),
      context_(settings, terms.host),
      memories_{context_.context(), store_},
      sources_(memories_),
      shared_(memories_, max_message_) {
  listen();
  if (!settings_.event) return;
  const ucs_status_t status = ucp_worker_get_efd(worker(), &event_);
  if (status != UCS_OK) {
    throw Failure(ErrorKind::unsupported,
                  "option wait is event: UCX has no descriptor to wait for: " + reason(status));
  }
}

/// Waits a moment for what is under way. What a lost peer holds up goes with the worker.
Engine::~Engine() {
  const std::int64_t deadline = now_ns() + kEndNs;
  while (!forget_retired() && now_ns() < deadline) ucp_worker_progress(worker());
  context_.end();
}

void Engine::listen() {
  if (settings_.operation == Operation::tag || settings_.operation == Operation::stream) return;
  ucp_am_handler_param_t handler{};
  handler.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kActive;
  handler.cb = heard;
  handler.arg = this;
  const ucs_status_t status = ucp_worker_set_am_recv_handler(worker(), &handler);
  if (status != UCS_OK) throw Failure(ErrorKind::setup, "listen for active messages: " + reason(status));
}

std::unique_ptr<MessageChannel> Engine::open(int control, std::uint32_t) {
  if (store_.on_device()) store_.cuda->use();
  const std::uint64_t id = next_id_++;
  Channel& channel = *(channels_[id] = make_channel(*this, id));
  auto held = std::make_unique<HeldChannel>(*this, channel);  // retires it when this throws
  Introduction mine;
  mine.operation = settings_.operation;
  mine.worker = context_.address();
  mine.host = boot_id();
  channel.introduce(mine);
  const Introduction theirs = Introduction::read(exchange_addresses(control, mine.text()));
  if (theirs.operation != mine.operation) {
    throw Failure(ErrorKind::setup, "option operation is " + name(mine.operation) +
                                        " here, and the other end's is " + name(theirs.operation));
  }
  channel.connect(theirs);
  return held;
}

bool Engine::progress(Arrivals& arrivals) {
  if (store_.on_device()) store_.cuda->use();
  bool moved = !held_.empty();
  if (moved) tell_held(arrivals);
  arrivals_ = &arrivals;
  if (ucp_worker_progress(worker()) > 0) moved = true;
  if (settings_.operation == Operation::stream && poll_streams()) moved = true;
  for (Channel* channel : std::exchange(settling_, {})) channel->settle();
  arrivals_ = nullptr;
  for (const Channel* channel : std::exchange(broken_, {})) {
    if (channel->held() != nullptr) arrivals.lost(*channel->held(), channel->broken());
    moved = true;
  }
  if (!retired_.empty()) forget_retired();
  return moved;
}

void Engine::wait(std::int64_t until_ns, int wake) {
  if (!held_.empty() || ucp_worker_arm(worker()) != UCS_OK) return;  // busy: there is something to do
  std::array<pollfd, 2> asked = {{{event_, POLLIN, 0}, {wake, POLLIN, 0}}};
  const std::int64_t left = std::max<std::int64_t>(0, until_ns - now_ns());
  const timespec limit{left / 1'000'000'000, left % 1'000'000'000};
  ppoll(asked.data(), asked.size(), &limit, nullptr);
}

std::string Engine::path(const MessageChannel& channel) const {
  char* text = nullptr;
  std::size_t size = 0;
  FILE* stream = open_memstream(&text, &size);
  if (stream == nullptr) return {};
  ucp_ep_print_info(static_cast<const HeldChannel&>(channel).channel().endpoint(), stream);
  std::fclose(stream);
  const std::unique_ptr<char, decltype(&std::free)> printed(text, &std::free);
  return lanes_of({text, size});
}

bool Engine::may_share_memory(const std::string& host) const {
  return (settings_.tls == "auto" || settings_.tls == "shm") && !host.empty() && host == boot_id();
}

void Engine::retire(Channel& channel) {
  channel.close();
  std::erase(settling_, &channel);
  std::erase(broken_, &channel);
  std::erase_if(held_, [&](const Held& held) { return held.channel == &channel; });
  retired_.push_back(&channel);
}

/// Destroys retired channels that have nothing under way. True when none is left.
bool Engine::forget_retired() {
  std::erase_if(retired_, [this](Channel* channel) {
    if (!channel->at_rest()) return false;
    channel->release();
    channels_.erase(channel->id());
    return true;
  });
  return retired_.empty();
}

void Engine::tell(Channel& channel, std::span<const char> message, bool counted) {
  if (channel.held() == nullptr) return;
  if (arrivals_ != nullptr) {
    arrivals_->arrived(*channel.held(), message);
  } else if (counted) {
    held_.push_back({&channel, {}, message});
  } else {
    held_.push_back({&channel, std::string(message.begin(), message.end()), {}});
  }
}

void Engine::tell_held(Arrivals& arrivals) {
  for (const Held& held : std::exchange(held_, {})) {
    arrivals.arrived(*held.channel->held(),
                     held.copy.empty() ? held.counted : std::span<const char>(held.copy));
  }
}

ucs_status_t Engine::heard(void* engine, const void* head, std::size_t head_size, void* bytes,
                           std::size_t size, const ucp_am_recv_param_t* param) {
  auto& self = *static_cast<Engine*>(engine);
  std::array<std::uint64_t, 2> words{};
  if (head_size != sizeof words) return UCS_OK;
  std::memcpy(words.data(), head, sizeof words);
  const auto channel = self.channels_.find(words[0]);
  if (channel == self.channels_.end()) return UCS_OK;
  const bool there = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
  channel->second->heard(words[1], {static_cast<const char*>(bytes), there ? size : 0});
  return UCS_OK;
}

/// Lets channels read whose streams have bytes. True when any has.
bool Engine::poll_streams() {
  std::array<ucp_stream_poll_ep_t, 16> ready{};
  for (bool any = false;; any = true) {
    const ssize_t n = ucp_stream_worker_poll(worker(), ready.data(), ready.size(), 0);
    for (ssize_t i = 0; i < n; i++) {
      static_cast<Channel*>(ready[static_cast<std::size_t>(i)].user_data)->readable();
    }
    if (n < static_cast<ssize_t>(ready.size())) return any || n > 0;
  }
}

}  // namespace netdyno::ucx
