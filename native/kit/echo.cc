#include "kit/echo.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "kit/random.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::size_t kMaxCopied = 64 << 10;

}  // namespace

std::int64_t EchoPayload::check(const contract::Setup& setup) {
  const std::int64_t up = setup.exchange.up_bytes;
  const std::int64_t down = setup.exchange.down_bytes;
  const std::string& codec = setup.exchange.codec;
  if (!codec.empty() && codec != "bytes") {
    throw Failure(ErrorKind::unsupported,
                  "exchange.codec is \"" + codec + "\"; wire echo moves bytes as they are");
  }
  if (setup.load.fresh) {
    throw Failure(ErrorKind::unsupported, "load.fresh is true; this worker keeps its connections");
  }
  if (up < 1 || up > contract::kMaxFlowMessage) {
    throw Failure(ErrorKind::setup, "exchange.up_bytes is " + std::to_string(up) + ", expected 1 to " +
                                        std::to_string(contract::kMaxFlowMessage) + " on wire echo");
  }
  if (down != up) {
    throw Failure(ErrorKind::setup, "exchange is " + std::to_string(up) + " bytes up and " +
                                        std::to_string(down) + " down; wire echo returns what it is sent");
  }
  return up;
}

EchoPayload::EchoPayload(const contract::Setup& setup)
    : size_(static_cast<std::size_t>(check(setup))), seed_(setup.seed) {
  const auto in_flight = static_cast<std::size_t>(std::max<std::int64_t>(1, setup.load.in_flight));
  const std::size_t copies = std::clamp<std::size_t>(kMaxCopied / size_, 1, in_flight);
  copies_.resize(size_ * copies);
  std::uint64_t random = seed_;
  for (std::size_t i = 0; i < size_; i += sizeof random) {
    const std::uint64_t bits = split_mix(random);
    std::memcpy(copies_.data() + i, &bits, std::min(sizeof bits, size_ - i));
  }
  for (std::size_t copy = 1; copy < copies; copy++) {
    std::memcpy(copies_.data() + copy * size_, copies_.data(), size_);
  }
}

EchoPayload::Stamped EchoPayload::stamped(std::int64_t connection) const {
  Stamped s{};
  const auto number = static_cast<std::uint64_t>(connection);
  s.stamp_size = std::min(size_, s.stamp.size());
  const std::uint64_t bits = mix(seed_ ^ mix(number + 1));
  std::memcpy(s.stamp.data(), &bits, s.stamp.size());
  s.sum = sum_of(after_stamp(s), sum_of({s.stamp.data(), s.stamp_size}));
  return s;
}

std::uint32_t EchoPayload::sum_of(std::span<const char> bytes, std::uint32_t before) {
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void EchoPayload::verify(const Stamped& sent, std::uint32_t received) const {
  if (received == sent.sum) return;
  throw Failure(ErrorKind::invalid, "sent " + std::to_string(size_) +
                                        " bytes, and as many others came back: the peer does not echo");
}

void Pipeline::begin(std::int64_t now) {
  // One message more than are written at once, to detect surplus. An idle connection
  // keeps one byte, to notice that it is lost.
  capacity_ = flights_.slots() == 0 ? 1 : payload_.copies().size() + payload_.size();
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  flights_.begin(now);
}

std::span<const char> Pipeline::outgoing(std::int64_t now) {
  const std::size_t size = payload_.size();
  const std::size_t offset = rest_ == 0 ? 0 : size - rest_;
  const std::size_t available = payload_.copies().size() - offset;
  const std::size_t bytes = std::min(available, rest_ + static_cast<std::size_t>(flights_.waiting()) * size);
  if (bytes > rest_) flights_.sending((bytes - rest_ + size - 1) / size, now);
  return payload_.copies().subspan(offset, bytes);
}

void Pipeline::written(std::size_t n) {
  if (n < rest_) {
    rest_ -= n;
    return;
  }
  n -= rest_;
  const std::size_t size = payload_.size();
  const std::size_t messages = (n + size - 1) / size;
  flights_.sent(messages);
  rest_ = messages * size - n;
}

void Pipeline::received(std::size_t n, std::int64_t now) {
  const std::size_t size = payload_.size();
  filled_ += n;
  have_ = static_cast<std::size_t>(flights_.came(
      static_cast<std::int64_t>(have_), static_cast<std::int64_t>(n), static_cast<std::int64_t>(size), now));
  if (have_ == 0) filled_ = 0;
  if (have_ > 0 && flights_.in_flight() == 0) {
    throw contract::Failure(contract::ErrorKind::invalid,
                            "receive: " + std::to_string(have_) + " bytes that answer no exchange");
  }
}

void Pipeline::abandon(contract::ErrorKind kind, std::int64_t now) {
  flights_.abandon(kind, now, kind == contract::ErrorKind::peer ? loss() : "");
  rest_ = 0;
}

}  // namespace netdyno
