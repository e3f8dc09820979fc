// HdrHistogram of nanoseconds: the recording path, and the standard encoding with its base64.
//
// Layer: bottom. The geometry is internal/hist's: 1 ns to 5 minutes at three
// significant digits. One thread writes a Histogram, or several do by record_shared
// alone; others may read it only after those threads have ended or handed it over, but
// for counted, which any thread may call at any time.
//
// Source: G. Tene, HdrHistogram (hdrhistogram.org), counts-array layout and V2
// compressed encoding.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace netdyno {

class Histogram {
 public:
  static constexpr std::int64_t kMinNs = 1;
  static constexpr std::int64_t kMaxNs = 300'000'000'000;
  static constexpr int kDigits = 3;

  Histogram() : counts_(kCounts) {}

  /// Counts one value in ns. Negative values count as 0; values above kMaxNs
  /// count as kMaxNs and in over_max. Does not allocate.
  void record(std::int64_t ns) {
    if (ns > kMaxNs) [[unlikely]] {
      over_max_++;
      ns = kMaxNs;
    }
    add(index_of(std::max<std::int64_t>(ns, 0)), 1);
  }

  /// As record, where other threads count here too: a locked addition.
  void record_shared(std::int64_t ns) {
    if (ns > kMaxNs) [[unlikely]] {
      std::atomic_ref(over_max_).fetch_add(1, std::memory_order_relaxed);
      ns = kMaxNs;
    }
    std::atomic_ref(counts_[index_of(std::max<std::int64_t>(ns, 0))]).fetch_add(1, std::memory_order_relaxed);
  }

  /// As record, n times.
  void record(std::int64_t ns, std::int64_t n) {
    if (ns > kMaxNs) over_max_ += n;
    add(index_of(std::clamp<std::int64_t>(ns, 0, kMaxNs)), n);
  }

  void merge(const Histogram& other);

  std::int64_t count() const;
  std::int64_t over_max() const { return over_max_; }
  /// The mean in ns, each value as the middle of its position; 0 when nothing was
  /// recorded.
  double mean() const;

  /// How many positions there are.
  static constexpr std::size_t positions() { return kCounts; }
  /// Lowest value counted at a position; for tests and readers of counts. The
  /// position after the last has one, too.
  static std::int64_t value_at(std::size_t index);
  /// What a position has counted so far. Any thread.
  std::int64_t counted(std::size_t index) const {
    return std::atomic_ref(const_cast<std::int64_t&>(counts_[index])).load(std::memory_order_relaxed);
  }

  /// The V2 payload before compression, header included.
  std::string payload() const;

  /// The standard V2 compressed encoding in base64. Empty text when nothing was
  /// recorded. Throws std::runtime_error when zlib fails (out of memory).
  std::string encode() const;

 private:
  static constexpr int kSubBucketMagnitude = 11;  // 2^11 = 2048 ≥ 2 · 10^kDigits
  static constexpr int kHalfMagnitude = kSubBucketMagnitude - 1;
  static constexpr std::int64_t kHalfBuckets = std::int64_t{1} << kHalfMagnitude;
  static constexpr std::size_t kBuckets = 29;  // 2048 · 2^28 > kMaxNs
  static constexpr std::size_t kCounts = (kBuckets + 1) << kHalfMagnitude;

  /// A plain addition: there is one writer.
  void add(std::size_t index, std::int64_t n) {
    const std::atomic_ref count(counts_[index]);
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  static std::size_t index_of(std::int64_t ns) {
    const auto bits = static_cast<std::uint64_t>(ns) | ((std::uint64_t{1} << kSubBucketMagnitude) - 1);
    const int bucket = static_cast<int>(std::bit_width(bits)) - kSubBucketMagnitude;
    return static_cast<std::size_t>((std::int64_t{bucket + 1} << kHalfMagnitude) + (ns >> bucket) -
                                    kHalfBuckets);
  }

  std::vector<std::int64_t> counts_;
  std::int64_t over_max_ = 0;
};

/// Bytes as text (RFC 4648, section 4). Plain functions; any thread.
std::string base64(std::string_view bytes);

/// The bytes of a padded text; none where it is no base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace netdyno
