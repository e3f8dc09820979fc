#include <algorithm>
#include <utility>

#include "kit/contract.h"
#include "ucx/context.h"
#include "ucx/operations.h"
#include "ucx/words.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

namespace {

// Kinds of active messages.
constexpr std::uint64_t kSizes = 1;   // of the messages that were put
constexpr std::uint64_t kTaken = 2;   // how many of them the receiver has taken
constexpr std::uint64_t kCounts = 3;  // the receiver only counts from now on

/// How much memory a receiver sets aside for a connection, where a message is shorter.
constexpr std::size_t kRing = 4 << 20;

std::size_t slots_of(const Engine& engine) {
  return std::clamp<std::size_t>(kRing / engine.max_message(), 1, engine.settings().window);
}

}  // namespace

PutChannel::PutChannel(Engine& engine, std::uint64_t id)
    : Channel(engine, id),
      slots_(slots_of(engine)),
      memory_(engine.memories(), slots_ * engine.max_message()) {}

void PutChannel::release() {
  if (key_ != nullptr) ucp_rkey_destroy(std::exchange(key_, nullptr));
}

void PutChannel::introduce(Introduction& mine) {
  Channel::introduce(mine);
  mine.memory = reinterpret_cast<std::uint64_t>(memory_.data());
  mine.key = memory_.key();
}

void PutChannel::connect(const Introduction& theirs) {
  Channel::connect(theirs);
  theirs_ = theirs.memory;
  const ucs_status_t status = ucp_ep_rkey_unpack(endpoint(), theirs.key.data(), &key_);
  if (status != UCS_OK) throw Failure(ErrorKind::setup, "unpack a key of memory: " + reason(status));
}

/// No slot is overwritten before its message was taken, unless nobody looks at it.
bool PutChannel::full() const {
  if (!broken().empty()) return false;
  return Channel::full() || untaken_ >= (overwrites_ ? engine().settings().window : slots_);
}

void PutChannel::send(std::span<const char> message) {
  require_whole();
  const Memory& source = *engine().sources().of(message).memory;
  const std::uint64_t to = theirs_ + put_++ % slots_ * engine().max_message();
  const ucp_request_param_t param = sending();
  message_begun(ucp_put_nbx(endpoint(), source.data(), message.size(), to, key_, &param));
  untaken_++;
  turn_.push_back(message.size());
}

void PutChannel::flush() {
  require_whole();
  if (turn_.empty()) return;
  auto turn = std::make_unique<Turn>(Turn{this, words(turn_)});
  turn_.clear();
  ucp_request_param_t param = parameters(turn.get());
  param.cb.send = flushed;
  const ucs_status_ptr_t request = ucp_ep_flush_nbx(endpoint(), &param);
  if (begun(request)) {
    turn.release();  // flushed takes it
  } else if (request == nullptr) {
    say(kSizes, std::move(turn->sizes));
  }
}

void PutChannel::flushed(void* request, ucs_status_t status, void* turn) {
  const std::unique_ptr<Turn> at(static_cast<Turn*>(turn));
  PutChannel& self = *at->channel;
  if (self.ended(request, status) && !self.closing()) self.say(kSizes, std::move(at->sizes));
}

ucs_status_t PutChannel::heard(std::uint64_t kind, void* bytes, std::size_t size, bool descriptor) {
  const auto said =
      descriptor ? std::vector<std::uint64_t>() : numbers({static_cast<const char*>(bytes), size});
  if (kind == kSizes) {
    arrived(said);
  } else if (kind == kTaken && said.size() == 1 && said[0] <= untaken_) {
    untaken_ -= said[0];
  } else if (kind == kCounts) {
    overwrites_ = true;
  } else {
    fail("an active message came that the other end had no reason for");
  }
  return UCS_OK;
}

void PutChannel::arrived(std::span<const std::uint64_t> sizes) {
  if (unanswered_ == 0) engine().settle(*this);
  for (const std::uint64_t size : sizes) {
    if (size > engine().max_message()) {
      fail("a message of " + std::to_string(size) + " bytes came, expected at most " +
           std::to_string(engine().max_message()));
      return;
    }
    const std::size_t at = arrived_++ % slots_ * engine().max_message();
    const auto message =
        counting_ ? std::span<const char>(memory_.data() + at, size) : memory_.read(at, size);
    engine().tell(*this, message, counting_);
    unanswered_++;
  }
}

void PutChannel::settle() {
  const std::uint64_t taken = std::exchange(unanswered_, 0);
  if (taken > 0 && broken().empty()) say(kTaken, words({&taken, 1}));
}

void PutChannel::only_count() {
  counting_ = true;
  say(kCounts, {});
}

}  // namespace netdyno::ucx
