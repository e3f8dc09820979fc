// A list of header fields that is sent many times.
//
// Layer: bottom of h2. Immutable once it is filled: any thread may read it.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace netdyno::h2 {

class Fields {
 public:
  Fields() = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  /// Adds a field. name is in lower case. nghttp2 copies neither, so the list outlives the
  /// streams on which it is sent.
  void add(std::string name, std::string value) {
    const std::string& n = texts_.emplace_back(std::move(name));
    const std::string& v = texts_.emplace_back(std::move(value));
    // The library's functions take fields that they do not change by pointers to what may.
    list_.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(n.data())),
                     reinterpret_cast<std::uint8_t*>(const_cast<char*>(v.data())), n.size(), v.size(),
                     NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE});
  }
  void clear() {
    list_.clear();
    texts_.clear();
  }

  const nghttp2_nv* data() const { return list_.data(); }
  std::size_t size() const { return list_.size(); }

 private:
  std::deque<std::string> texts_;
  std::vector<nghttp2_nv> list_;
};

}  // namespace netdyno::h2
