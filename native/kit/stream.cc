#include "kit/stream.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "kit/random.h"
#include "kit/service.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::int64_t kMaxChunk = 64 << 20;

std::int64_t checked(const std::string& name, std::int64_t value, std::int64_t max) {
  if (value >= 1 && value <= max) return value;
  throw Failure(ErrorKind::setup, "exchange." + name + " is " + std::to_string(value) + ", expected 1 to " +
                                      std::to_string(max) + " on wire stream");
}

std::int64_t chunk_of(const contract::Setup& setup) {
  const std::int64_t chunk = setup.exchange.chunk_bytes;
  return chunk == 0 ? contract::Exchange::kDefaultChunk : checked("chunk_bytes", chunk, kMaxChunk);
}

/// Refuses exchanges that wire stream cannot carry.
const contract::Setup& carried(const contract::Setup& setup) {
  if (!setup.exchange.codec.empty() && setup.exchange.codec != "bytes") {
    throw Failure(ErrorKind::unsupported,
                  "exchange.codec is \"" + setup.exchange.codec + "\"; wire stream moves bytes as they are");
  }
  if (setup.load.fresh) {
    throw Failure(ErrorKind::unsupported, "load.fresh is true; this worker keeps its connections");
  }
  return setup;
}

}  // namespace

StreamContent::StreamContent(std::uint64_t state, std::int64_t bytes, std::int64_t chunk_bytes)
    : bytes_(bytes), block_(static_cast<std::size_t>(std::min(bytes, chunk_bytes))) {
  for (std::size_t i = 0; i < block_.size(); i += sizeof state) {
    std::uint64_t bits = split_mix(state);
    for (std::size_t j = i; j < std::min(i + sizeof bits, block_.size()); j++, bits >>= 8) {
      block_[j] = static_cast<char>(bits & 0xff);  // little-endian on every machine
    }
  }
}

std::span<const char> StreamContent::from(std::int64_t at) const {
  const auto rest = std::span(block_).subspan(static_cast<std::size_t>(at) % block_.size());
  return rest.first(std::min(rest.size(), static_cast<std::size_t>(bytes_ - at)));
}

std::size_t StreamContent::repeats(std::int64_t at, std::int64_t until) const {
  const auto block = static_cast<std::int64_t>(block_.size());
  const std::int64_t whole = (until - at) / block;
  return whole < 2 || at % block != 0 ? 1 : static_cast<std::size_t>(whole);
}

std::size_t StreamContent::agreeing(std::int64_t at, std::span<const char> given) const {
  std::size_t agreed = 0;
  while (agreed < given.size()) {
    const auto rest = given.subspan(agreed);
    auto expected = from(at + static_cast<std::int64_t>(agreed));
    expected = expected.first(std::min(expected.size(), rest.size()));
    if (std::memcmp(expected.data(), rest.data(), expected.size()) != 0) {
      const auto differs = std::mismatch(expected.begin(), expected.end(), rest.begin());
      return agreed + static_cast<std::size_t>(differs.first - expected.begin());
    }
    agreed += expected.size();
  }
  return agreed;
}

StreamPlan::StreamPlan(const contract::Setup& setup)
    : up_(StreamContent::kUp,
          checked("up_bytes", carried(setup).exchange.up_bytes, contract::kMaxFlowMessage), chunk_of(setup)),
      down_(StreamContent::kDown, checked("down_bytes", setup.exchange.down_bytes, contract::kMaxFlowMessage),
            chunk_of(setup)),
      both_(setup.exchange.stream == contract::Stream::both),
      every_ns_(setup.exchange.every_ns) {}

void StreamClient::begin(std::int64_t now) {
  // All that can arrive, and one byte more to detect surplus.
  const auto due = static_cast<std::int64_t>(flights_.slots()) * plan_.down().bytes() + 1;
  capacity_ = static_cast<std::size_t>(std::min(due, kMaxRead));
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  flights_.begin(now);
}

std::span<const char> StreamClient::outgoing(std::int64_t now) {
  if (rest_ > 0) return plan_.up().from(plan_.up().bytes() - rest_);
  flights_.sending(1, now);
  return plan_.up().from(0);
}

void StreamClient::written(std::size_t n) {
  if (n == 0) return;
  if (rest_ == 0) {
    flights_.sent(1);
    rest_ = plan_.up().bytes();
  }
  rest_ -= static_cast<std::int64_t>(n);
}

void StreamClient::received(std::size_t n, std::int64_t now) {
  const std::int64_t bytes = plan_.down().bytes();
  const std::uint64_t partial = rest_ > 0 ? 1 : 0;  // the last one is sent only in part
  have_ = flights_.came(have_, static_cast<std::int64_t>(n), bytes, now, partial);
  if (flights_.in_flight() > partial) return;
  const std::int64_t early = plan_.answerable(partial == 1 ? plan_.up().bytes() - rest_ : 0);
  if (have_ > early) {
    throw Failure(ErrorKind::invalid,
                  "receive: " + std::to_string(have_ - early) + " bytes that answer no exchange");
  }
}

void StreamClient::abandon(ErrorKind kind, std::int64_t now) {
  flights_.abandon(kind, now, kind == ErrorKind::peer ? loss() : "");
  rest_ = 0;
}

std::span<const char> StreamServer::outgoing(std::int64_t) {
  const auto next = plan_.down().from(down_);
  return next.first(std::min(next.size(), static_cast<std::size_t>(answerable() - down_)));
}

void StreamServer::written(std::size_t n) {
  traffic().sent.add(static_cast<std::int64_t>(n));
  if (down_ == 0 && plan_.every_ns() > 0) due_ = now_ns();
  down_ += static_cast<std::int64_t>(n);
  if (down_ < plan_.down().bytes()) return pace();
  down_ = 0;
  answered_++;
  traffic().exchanges.add(1);
}

void StreamServer::received(std::size_t n, std::int64_t) {
  traffic().received.add(static_cast<std::int64_t>(n));
  if (complete_ == 0) compare(n);
  up_ += static_cast<std::int64_t>(n);
  if (up_ < plan_.up().bytes()) return;
  complete_ += up_ / plan_.up().bytes();
  up_ %= plan_.up().bytes();
}

/// Rests until the next message is due, where one has just gone and they are paced.
void StreamServer::pace() {
  if (plan_.every_ns() == 0 || plan_.down().from(down_).data() != plan_.down().from(0).data()) return;
  due_ += plan_.every_ns();
  if (due_ <= now_ns()) return;
  if (traffic().blocks) return sleep_until(due_);
  resting_ = true;
  rest(due_);
}

/// Compares those of n received bytes that belong to the first exchange.
void StreamServer::compare(std::size_t n) {
  const auto part = std::min(n, static_cast<std::size_t>(plan_.up().bytes() - up_));
  const std::size_t agreed = plan_.up().agreeing(up_, buffer().first(part));
  if (agreed == part) return;
  traffic().invalid.add(1);
  throw Failure(ErrorKind::invalid,
                "verify a client: byte " + std::to_string(up_ + static_cast<std::int64_t>(agreed)) + " of " +
                    std::to_string(plan_.up().bytes()) + " is not what goes up on wire stream");
}

}  // namespace netdyno
