#include "kit/pipeline.h"

#include <algorithm>
#include <string>

namespace netdyno {

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
  have_ += n;
  while (have_ >= size && flights_.in_flight() > 0) {
    have_ -= size;
    flights_.answered(static_cast<std::int64_t>(size), now);
  }
  if (have_ == 0) filled_ = 0;
  if (have_ > 0 && flights_.in_flight() == 0) {
    throw contract::Failure(contract::ErrorKind::invalid,
                            "receive: " + std::to_string(have_) + " bytes that answer no exchange");
  }
}

void Pipeline::abandon(contract::ErrorKind kind, std::int64_t now) {
  flights_.abandon(kind, now, kind == contract::ErrorKind::peer ? loss(error()) : "");
  rest_ = 0;
}

}  // namespace netdyno
