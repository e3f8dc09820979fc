// What a flow has to send, in two buffers in turn: while the kernel takes one, the other is
// filled. So bytes that were handed out stay as they are until more are asked for.
//
// Layer: below flow. Only one thread uses it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace netdyno {

class DoubleBuffer {
 public:
  /// Bytes that are gathered before they have to be sent.
  static constexpr std::size_t kGathered = 64 << 10;

  /// Where the next bytes are added.
  std::string& filling() { return next_; }
  bool has_room() const { return next_.size() < kGathered; }
  /// Whether nothing was added since it was made, or since all was sent and asked for again.
  bool empty() const { return going_.empty() && next_.empty(); }

  bool unsent() const { return !drained() || !next_.empty(); }
  /// Whether all that was handed out has been taken.
  bool drained() const { return at_ == going_.size(); }
  /// The bytes to be sent now. They stay as they are until it is called when drained.
  std::span<const char> outgoing() {
    if (drained()) {
      going_.clear();
      going_.swap(next_);
      at_ = 0;
    }
    return std::span<const char>(going_).subspan(at_);
  }
  void written(std::size_t n) { at_ += n; }

 private:
  std::string going_;  // handed out, of which at_ bytes were taken
  std::string next_;
  std::size_t at_ = 0;
};

}  // namespace netdyno
