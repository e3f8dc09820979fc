// Frames on their way out of one connection, gathered into writes: small ones
// side by side in a buffer, a content that does not fit written from where it
// lies.
//
// Layer: above content. Belongs to one thread. What rest returns stays as it is
// until it is written: nothing is added meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "baidu/content.h"

namespace netdyno::baidu {

class Outbox {
 public:
  /// Gathers up to so many bytes. content outlives this.
  Outbox(const Content& content, std::size_t gathered) : content_(content), gathered_(gathered) {}

  /// Whether all that was added has been written; the next batch may begin.
  bool empty() const { return done_ == size_; }
  /// Forgets the batch that was written.
  void clear() {
    gathering_.clear();
    tail_ = {};
    done_ = size_ = 0;
  }
  /// Whether another frame goes into the batch.
  bool takes() const { return tail_.empty() && (size_ == 0 || gathering_.size() + longest() <= gathered_); }

  /// Adds a frame with the content; only if takes.
  void add(const Meta& meta) {
    content_.append_head(gathering_, meta);
    const auto sent = content_.sent();
    if (gathering_.size() + sent.size() <= gathered_) {
      gathering_.append(sent.data(), sent.size());
    } else {
      tail_ = sent;
    }
    size_ = gathering_.size() + tail_.size();
  }
  /// Adds a frame with nothing in it; only if takes.
  void add_empty(const Meta& meta) {
    append_head(gathering_, meta, 0);
    size_ = gathering_.size();
  }

  /// What of the batch is to be written next, in one piece; not empty unless empty().
  std::span<const char> rest() const {
    const std::size_t gathered = gathering_.size();
    if (done_ < gathered) return std::span<const char>(gathering_).subspan(done_);
    return tail_.subspan(done_ - gathered);
  }
  void written(std::size_t n) { done_ += n; }

  /// Bytes of the batch, and of them the written ones: where frames begin and
  /// end is told by these.
  std::size_t size() const { return size_; }
  std::size_t done() const { return done_; }

 private:
  /// Bytes of a frame with the content, rounded up: a head without an error
  /// text takes less than this.
  std::size_t longest() const { return 96 + content_.sent().size(); }

  const Content& content_;
  std::size_t gathered_;
  std::string gathering_;
  std::span<const char> tail_;  // follows gathering_
  std::size_t size_ = 0;
  std::size_t done_ = 0;
};

}  // namespace netdyno::baidu
