#include "kit/drawn_echo.h"

#include <algorithm>
#include <string>

namespace netdyno {

void DrawnPipeline::begin(std::int64_t now) {
  constexpr std::size_t kMost = 128 << 10;
  // An idle connection keeps one byte, to notice that it is lost.
  capacity_ = std::min(kMost, payload_.size() * flights_.slots() + 1);
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  flights_.begin(now);
}

std::span<const char> DrawnPipeline::outgoing(std::int64_t now) {
  if (at_ == 0) {
    flights_.sending(1, now);
    size_ = static_cast<std::size_t>(flights_.next_draw().up);
  }
  return payload_.copies().subspan(at_, size_ - at_);
}

void DrawnPipeline::written(std::size_t n) {
  if (n == 0) return;
  if (at_ == 0) flights_.sent(1);
  at_ += n;
  if (at_ == size_) at_ = 0;
}

void DrawnPipeline::received(std::size_t n, std::int64_t now) {
  have_ += static_cast<std::int64_t>(n);
  while (flights_.in_flight() > 0) {
    const std::int64_t size = flights_.oldest_draw().up;
    if (have_ < size) return;
    have_ -= size;
    flights_.answered(size, now);
  }
  if (have_ > 0) {
    throw contract::Failure(contract::ErrorKind::invalid,
                            "receive: " + std::to_string(have_) + " bytes that answer no exchange");
  }
}

void DrawnPipeline::abandon(contract::ErrorKind kind, std::int64_t now) {
  flights_.abandon(kind, now, kind == contract::ErrorKind::peer ? loss() : "");
  at_ = 0;
}

}  // namespace netdyno
