#include "kit/histogram.h"

#include <zlib.h>

#include <numeric>
#include <stdexcept>

namespace netdyno {

namespace {

constexpr std::uint32_t kCookie = 0x1c849303 | 0x10;
constexpr std::uint32_t kCompressedCookie = 0x1c849304 | 0x10;

template <typename Unsigned>
void put_big_endian(std::string& out, Unsigned value) {
  for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift & 0xff));
  }
}

/// ZigZag LEB128 of at most nine bytes; the ninth carries eight bits.
void put_zigzag(std::string& out, std::int64_t value) {
  auto bits = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  for (int byte = 0; byte < 8; byte++) {
    if (bits >> 7 == 0) break;
    out.push_back(static_cast<char>((bits & 0x7f) | 0x80));
    bits >>= 7;
  }
  out.push_back(static_cast<char>(bits));
}

std::string deflate(const std::string& plain) {
  uLongf size = compressBound(plain.size());
  std::string packed(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                plain.size(), Z_BEST_COMPRESSION);
  if (status != Z_OK) throw std::runtime_error(std::string("compress histogram: ") + zError(status));
  packed.resize(size);
  return packed;
}

}  // namespace

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < counts_.size(); i++) counts_[i] += other.counts_[i];
  over_max_ += other.over_max_;
}

double Histogram::mean() const {
  double sum = 0;
  for (std::size_t i = 0; i < counts_.size(); i++) {
    if (counts_[i] == 0) continue;
    const auto middle = static_cast<double>(value_at(i) + value_at(i + 1) - 1) / 2;
    sum += middle * static_cast<double>(counts_[i]);
  }
  const std::int64_t n = count();
  return n == 0 ? 0 : sum / static_cast<double>(n);
}

std::int64_t Histogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

std::int64_t Histogram::value_at(std::size_t index) {
  const auto position = static_cast<std::int64_t>(index);
  const std::int64_t bucket = (position >> kHalfMagnitude) - 1;
  if (bucket < 0) return position;
  return ((position & (kHalfBuckets - 1)) + kHalfBuckets) << bucket;
}

std::string Histogram::payload() const {
  std::size_t used = counts_.size();
  while (used > 1 && counts_[used - 1] == 0) used--;
  std::string counts;
  for (std::size_t i = 0; i < used;) {
    std::size_t end = i + 1;
    if (counts_[i] == 0) {
      while (end < used && counts_[end] == 0) end++;
    }
    // A run of zeros is its negative length; a single zero stays a zero.
    const auto zeros = static_cast<std::int64_t>(end - i);
    put_zigzag(counts, counts_[i] == 0 && zeros > 1 ? -zeros : counts_[i]);
    i = end;
  }
  std::string out;
  put_big_endian(out, kCookie);
  put_big_endian(out, static_cast<std::uint32_t>(counts.size()));
  put_big_endian(out, std::uint32_t{0});  // normalizing index offset
  put_big_endian(out, std::uint32_t{kDigits});
  put_big_endian(out, static_cast<std::uint64_t>(kMinNs));
  put_big_endian(out, static_cast<std::uint64_t>(kMaxNs));
  put_big_endian(out, std::bit_cast<std::uint64_t>(1.0));  // integer to double conversion ratio
  return out + counts;
}

std::string Histogram::encode() const {
  if (count() == 0) return "";
  const std::string packed = deflate(payload());
  std::string out;
  put_big_endian(out, kCompressedCookie);
  put_big_endian(out, static_cast<std::uint32_t>(packed.size()));
  return base64(out + packed);
}

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; j++) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (int j = 0; j < 4; j++) out.push_back(kAlphabet[group >> (18 - 6 * j) & 0x3f]);
  }
  for (std::size_t missing = (3 - bytes.size() % 3) % 3, i = 1; i <= missing; i++) out[out.size() - i] = '=';
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    padding++;
  }
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits >= 8) out.push_back(static_cast<char>(group >> (bits -= 8) & 0xff));
  }
  return out;
}

}  // namespace netdyno
