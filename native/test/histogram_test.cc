#include "kit/histogram.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "test/vectors.h"

namespace netdyno {
namespace {

std::string hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out.push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
    out.push_back(kDigits[c & 0xf]);
  }
  return out;
}

/// The payload inside an encoded text.
std::string inflate(const std::string& encoded) {
  const std::string packed = from_base64(encoded).value().substr(8);
  std::string plain(1 << 20, '\0');
  uLongf size = plain.size();
  const int status = uncompress(reinterpret_cast<Bytef*>(plain.data()), &size,
                                reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  EXPECT_EQ(status, Z_OK);
  return plain.substr(0, size);
}

TEST(Histogram, PayloadsAreThoseOfTheVectors) {
  for (const auto& vector : test::vectors("hist.json")) {
    Histogram histogram;
    for (const auto& value : vector.at("values")) {
      histogram.record(value.at(0).get<std::int64_t>(), value.at(1).get<std::int64_t>());
    }
    EXPECT_EQ(hex(histogram.payload()), vector.at("payload").get<std::string>()) << vector.at("name");
    if (histogram.count() > 0) {
      EXPECT_EQ(hex(inflate(histogram.encode())), vector.at("payload").get<std::string>())
          << vector.at("name");
    }
  }
}

TEST(Histogram, EncodedHeaderHoldsCookieAndLength) {
  Histogram histogram;
  for (int i = 0; i < 5000; i++) histogram.record(i * 37);
  const std::string bytes = from_base64(histogram.encode()).value();
  EXPECT_EQ(hex(bytes.substr(0, 4)), "1c849314");
  std::size_t length = 0;
  for (std::size_t i = 4; i < 8; i++) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  EXPECT_EQ(length, bytes.size() - 8);
}

TEST(Histogram, EmptyEncodesToNothing) { EXPECT_EQ(Histogram().encode(), ""); }

TEST(Histogram, EveryValueIsCountedWithinThreeDigits) {
  int nth = 0;
  for (std::int64_t ns = 1; ns <= Histogram::kMaxNs; ns += ns / 977 + 1) {
    std::int64_t low = 0;
    // The lowest value of its position: found by bisection over positions.
    std::size_t from = 0;
    std::size_t to = 30 * 1024;
    while (to - from > 1) {
      const std::size_t middle = (from + to) / 2;
      (Histogram::value_at(middle) <= ns ? from : to) = middle;
    }
    low = Histogram::value_at(from);
    ASSERT_LE(low, ns);
    ASSERT_LE(static_cast<double>(ns - low), static_cast<double>(ns) * 0.001) << ns;
    if (nth++ % 13 != 0)
      continue;  // payloads are long to walk: 80 of the 1,024 positions of each power of two
    Histogram one;
    one.record(ns);
    Histogram same;
    same.record(low);
    ASSERT_EQ(one.payload(), same.payload()) << ns;
  }
}

TEST(Histogram, ValuesOutOfRangeAreClampedAndTold) {
  Histogram histogram;
  histogram.record(-5);
  histogram.record(Histogram::kMaxNs);
  histogram.record(Histogram::kMaxNs + 1);
  Histogram expected;
  expected.record(0);
  expected.record(Histogram::kMaxNs, 2);
  EXPECT_EQ(histogram.payload(), expected.payload());
  EXPECT_EQ(histogram.over_max(), 1);
}

TEST(Histogram, MergeAddsCounts) {
  Histogram a;
  Histogram b;
  Histogram both;
  for (std::int64_t i = 0; i < 1000; i++) {
    (i % 3 == 0 ? a : b).record(i * i);
    both.record(i * i);
  }
  a.merge(b);
  EXPECT_EQ(a.payload(), both.payload());
  EXPECT_EQ(a.count(), 1000);
}

}  // namespace
}  // namespace netdyno
