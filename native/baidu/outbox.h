// Outgoing frames of one connection, gathered into writes: small frames side by side in a
// buffer; a content that does not fit is written without a copy.
//
// Layer: above content. Only one thread uses it. What rest returns does not change until it
// is written: nothing is added meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "baidu/content.h"

namespace netdyno::baidu {

class Outbox {
 public:
  /// Gathers up to gathered bytes. content outlives this object.
  Outbox(const Content& content, std::size_t gathered) : content_(content), gathered_(gathered) {}

  /// Whether all added frames were written, so that the next batch may begin.
  bool empty() const { return done_ == size_; }
  /// Removes the written batch.
  void clear() {
    gathering_.clear();
    tail_ = {};
    done_ = size_ = 0;
  }
  /// Whether another frame fits into the batch.
  bool takes() const { return tail_.empty() && (size_ == 0 || gathering_.size() + longest() <= gathered_); }

  /// Adds a frame with the content. Only if takes().
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
  /// Adds an empty frame. Only if takes().
  void add_empty(const Meta& meta) {
    append_head(gathering_, meta, 0);
    size_ = gathering_.size();
  }

  /// The bytes of the batch to write next, in one piece. Empty only if empty().
  std::span<const char> rest() const {
    const std::size_t gathered = gathering_.size();
    if (done_ < gathered) return std::span<const char>(gathering_).subspan(done_);
    return tail_.subspan(done_ - gathered);
  }
  void written(std::size_t n) { done_ += n; }

  /// Bytes of the batch, and how many of them were written. Callers compare them with where
  /// frames begin and end.
  std::size_t size() const { return size_; }
  std::size_t done() const { return done_; }

 private:
  /// The size of a frame with the content, rounded up: a head without an error text is
  /// shorter than 96 bytes.
  std::size_t longest() const { return 96 + content_.sent().size(); }

  const Content& content_;
  std::size_t gathered_;
  std::string gathering_;
  std::span<const char> tail_;  // follows gathering_
  std::size_t size_ = 0;
  std::size_t done_ = 0;
};

}  // namespace netdyno::baidu
