// Cuts frames of baidu_std out of the bytes of one connection, however they come.
//
//   reader.received(read(fd, reader.room()));
//   while (auto frame = reader.next()) …   // then room is for what follows
//
// A frame is handed over whole and contiguous, where it was read: of a small one
// that was cut off by the buffer's end the first part is moved, of a large one
// only while the buffer grows to its size, once per connection. Memory follows
// what has come, not what a header announces.
//
// Layer: above frame; moves no bytes itself. Belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "baidu/frame.h"

namespace netdyno::baidu {

class Reader {
 public:
  /// Asks for so many bytes at once; a body larger than max_body is malformed.
  Reader(std::size_t buffer, std::size_t max_body);

  /// Where the next bytes go; never empty. The same until received.
  std::span<char> room() const { return {buffer_.get() + to_, capacity_ - to_}; }
  /// So many of them came; next has then to be called until it has no frame.
  void received(std::size_t n) { to_ += n; }
  /// The next whole frame, whose bytes stay until the next call; nothing before
  /// it is whole. Throws Malformed, and then again.
  std::optional<Frame> next();

  /// Whether bytes have come of a frame that is not whole.
  bool torn() const { return from_ < to_; }

 private:
  /// Sees to it that size bytes from from_ on will fit, as far as they may by now.
  void make_room(std::size_t size);

  std::size_t max_body_;
  std::size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  std::size_t from_ = 0;  // the buffer's [from_, to_) has come and was not handed over
  std::size_t to_ = 0;
};

}  // namespace netdyno::baidu
