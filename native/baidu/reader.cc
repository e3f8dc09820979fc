#include "baidu/reader.h"

#include <algorithm>
#include <cstring>

namespace netdyno::baidu {
namespace {

/// The first allocation for a body, whatever its header announces. It grows to at most
/// twice what has arrived.
constexpr std::size_t kFirstStep = 64 << 10;

}  // namespace

Reader::Reader(std::size_t buffer, std::size_t max_body)
    : max_body_(max_body),
      capacity_(std::max(buffer, kHeaderSize)),
      buffer_(std::make_unique_for_overwrite<char[]>(capacity_)) {}

std::optional<Frame> Reader::next() {
  const std::size_t have = to_ - from_;
  if (have < kHeaderSize) {
    reserve(capacity_);  // moves the few bytes to the front, so that a read has all the space
    return std::nullopt;
  }
  const char* const begin = buffer_.get() + from_;
  const Header header = parse_header(std::span<const char, kHeaderSize>(begin, kHeaderSize), max_body_);
  if (have < header.frame()) {
    reserve(header.frame());
    return std::nullopt;
  }
  const Frame frame = parse_body({begin + kHeaderSize, header.body}, header);
  from_ += header.frame();
  return frame;
}

void Reader::reserve(std::size_t size) {
  if (size <= capacity_ - from_) return;
  if (from_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + from_, to_ - from_);
    to_ -= from_;
    from_ = 0;
  }
  if (size <= capacity_ || to_ < capacity_) return;
  capacity_ = std::min(size, std::max(2 * to_, kFirstStep));
  auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
  std::memcpy(larger.get(), buffer_.get(), to_);
  buffer_ = std::move(larger);
}

}  // namespace netdyno::baidu
