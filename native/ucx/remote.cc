#include <algorithm>
#include <utility>

#include "kit/contract.h"
#include "ucx/context.h"
#include "ucx/operations.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

namespace {

// Kinds of active messages.
constexpr std::uint64_t kRegion = 1;    // address, size and key of memory with messages
constexpr std::uint64_t kMessages = 2;  // the region and the size of each
constexpr std::uint64_t kGot = 3;       // how many of them the receiver has got

/// Regions of one connection: a flow has few different messages.
constexpr std::size_t kMaxRegions = 64;
constexpr std::size_t kRegionWords = 2;

}  // namespace

GetChannel::GetChannel(Engine& engine, std::uint64_t id)
    : Channel(engine, id), own_(std::make_unique<Memory>(engine.memories(), engine.max_message())) {}

void GetChannel::release() {
  for (const Region& region : regions_) ucp_rkey_destroy(region.key);
  regions_.clear();
}

void GetChannel::send(std::span<const char> message) {
  require_whole();
  const Sources::Source source = engine().sources().of(message);
  while (introduced_ <= source.number) introduce(engine().sources().at(introduced_++));
  announcement_.push_back(source.number);
  announcement_.push_back(message.size());
  outstanding(1);
}

void GetChannel::introduce(const Memory& source) {
  const std::uint64_t place[kRegionWords] = {reinterpret_cast<std::uint64_t>(source.data()), source.size()};
  say(kRegion, words(place) + source.key());
}

void GetChannel::flush() {
  require_whole();
  if (announcement_.empty()) return;
  say(kMessages, words(announcement_));
  announcement_.clear();
}

void GetChannel::heard(std::uint64_t kind, std::string_view said) {
  if (kind == kRegion) {
    meet(said);
  } else if (kind == kMessages) {
    announced(numbers(said));
  } else if (const auto got = numbers(said); kind == kGot && got.size() == 1) {
    outstanding(-static_cast<std::int64_t>(got[0]));
  } else {
    fail("an active message came that the other end had no reason for");
  }
}

void GetChannel::meet(std::string_view region) {
  constexpr std::size_t kPlace = kRegionWords * sizeof(std::uint64_t);
  if (region.size() <= kPlace || regions_.size() >= kMaxRegions) {
    fail("the other end named too many regions of memory, or one without a key");
    return;
  }
  const auto place = numbers(region.substr(0, kPlace));
  ucp_rkey_h key = nullptr;
  const ucs_status_t status = ucp_ep_rkey_unpack(endpoint(), region.data() + kPlace, &key);
  if (status != UCS_OK) {
    fail("unpack a key of memory: " + reason(status));
    return;
  }
  regions_.push_back({place[0], place[1], key});
}

void GetChannel::announced(std::span<const std::uint64_t> messages) {
  for (std::size_t i = 0; i + 1 < messages.size(); i += 2) {
    const bool there = messages[i] < regions_.size() && messages[i + 1] <= regions_[messages[i]].size;
    if (!there || messages[i + 1] > engine().max_message()) {
      fail("the other end announced a message outside its memory, or longer than " +
           std::to_string(engine().max_message()) + " bytes");
      return;
    }
    fetches_.push_back({messages[i + 1], messages[i]});
  }
  start();
}

/// Begins what may begin: the next one while content matters, then all.
void GetChannel::start() {
  while (!fetches_.empty() && (counting_ || fetching_ == 0) && !closing() && broken().empty()) {
    const Fetch fetch = fetches_.front();
    fetches_.pop_front();
    auto context = std::make_unique<UnderWay>(UnderWay{this, fetch.size});
    const Region& region = regions_[fetch.region];
    ucp_request_param_t param = parameters(context.get());
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.memory_type = engine().memories().type();
    param.cb.send = fetched;
    char* const to = counting_ ? engine().shared().data() : own_->data();
    fetching_++;
    const ucs_status_ptr_t request =
        ucp_get_nbx(endpoint(), to, fetch.size, region.address, region.key, &param);
    if (begun(request)) {
      context.release();  // fetched takes it
    } else if (request == nullptr) {
      done(fetch.size);
    }
  }
}

void GetChannel::fetched(void* request, ucs_status_t status, void* context) {
  const std::unique_ptr<UnderWay> at(static_cast<UnderWay*>(context));
  GetChannel& self = *at->channel;
  if (!self.ended(request, status)) return;
  self.done(at->size);
  self.start();
}

void GetChannel::done(std::size_t size) {
  fetching_--;
  engine().tell(*this,
                counting_ ? std::span<const char>(engine().shared().data(), size) : own_->read(0, size),
                counting_);
  if (unanswered_++ == 0) engine().settle(*this);
}

void GetChannel::only_count() {
  counting_ = true;
  start();
}

void GetChannel::settle() {
  const std::uint64_t got = std::exchange(unanswered_, 0);
  if (got > 0 && broken().empty()) say(kGot, words({&got, 1}));
}

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

void PutChannel::heard(std::uint64_t kind, std::string_view bytes) {
  const auto said = numbers(bytes);
  if (kind == kSizes) {
    arrived(said);
  } else if (kind == kTaken && said.size() == 1 && said[0] <= untaken_) {
    untaken_ -= said[0];
  } else if (kind == kCounts) {
    overwrites_ = true;
  } else {
    fail("an active message came that the other end had no reason for");
  }
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
