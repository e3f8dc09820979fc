// The bytes of one message as they go out.
//
// Layer: bottom of http1. Immutable after construction: any thread may read it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace netdyno::http1 {

class Message {
 public:
  /// Contents up to this size are copied behind their head, so that both go out in one
  /// write. A longer one is written from where it is.
  static constexpr std::size_t kGathered = 1 << 20;

  /// content outlives the message unless gathered says that it is copied.
  Message(std::string head, std::string_view content, bool gathered) : first_(std::move(head)) {
    if (gathered) {
      first_.append(content);
    } else {
      rest_ = content;
    }
  }

  std::size_t size() const { return first_.size() + rest_.size(); }
  /// The bytes from at on that are in one piece. Only while at < size().
  std::span<const char> from(std::size_t at) const {
    if (at < first_.size()) return std::span<const char>(first_).subspan(at);
    return std::span<const char>(rest_).subspan(at - first_.size());
  }

 private:
  std::string first_;
  std::string_view rest_;
};

}  // namespace netdyno::http1
