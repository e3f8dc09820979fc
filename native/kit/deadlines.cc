#include "kit/deadlines.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace netdyno {

namespace {

/// Three significant digits, or all before the point when there are more.
std::string significant(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2e", x);
  const int exponent =
      std::atoi(std::string(text.data()).substr(std::string(text.data()).find('e') + 1).c_str());
  std::snprintf(text.data(), text.size(), "%.*f", std::max(0, 2 - exponent), x);
  return text.data();
}

}  // namespace

/// A duration is written as the workers in Go write it, so that equal causes have equal texts.
std::string late_text(std::int64_t deadline_ns) {
  const std::string why = "no reply within the deadline of ";
  constexpr double kBelow = 999.5;  // 999.6 µs is 1.00 ms
  auto amount = static_cast<double>(deadline_ns);
  if (amount < kBelow) return why + std::to_string(deadline_ns) + " ns";
  std::string text;
  for (const char* const unit : {" µs", " ms", " s"}) {
    amount /= 1e3;
    text = significant(amount) + unit;
    if (amount < kBelow) break;
  }
  return why + text;
}

}  // namespace netdyno
