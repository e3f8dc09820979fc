// Splits the bytes of one connection into frames of baidu_std, whatever pieces they arrive in.
//
//   reader.received(read(fd, reader.read_buffer()));
//   while (auto frame = reader.next()) …   // then read_buffer() takes the next bytes
//
// A frame is returned whole and contiguous, where it was read. If the buffer's end cut off
// a small frame, its first part is moved. A large frame is moved only while the buffer
// grows to its size, once per connection. Memory follows the bytes that have arrived, not
// what a header announces.
//
// Layer: above frame. It moves no bytes itself. Only one thread uses it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "baidu/frame.h"

namespace netdyno::baidu {

class Reader {
 public:
  /// One read takes up to buffer bytes. A body larger than max_body is malformed.
  Reader(std::size_t buffer, std::size_t max_body);

  /// Where to read the next bytes to. Never empty; the same until received.
  std::span<char> read_buffer() const { return {buffer_.get() + to_, capacity_ - to_}; }
  /// n bytes arrived there. Call next until it returns no frame.
  void received(std::size_t n) { to_ += n; }
  /// The next whole frame, valid until the next call, or nothing while it is incomplete.
  /// Throws Malformed, also at every later call.
  std::optional<Frame> next();

  /// Whether an incomplete frame has arrived.
  bool torn() const { return from_ < to_; }

 private:
  /// Makes size bytes from from_ on fit, or as many as are allowed so far.
  void reserve(std::size_t size);

  std::size_t max_body_;
  std::size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  std::size_t from_ = 0;  // the buffer's [from_, to_) arrived and was not returned yet
  std::size_t to_ = 0;
};

}  // namespace netdyno::baidu
