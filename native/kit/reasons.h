// Why exchanges failed: how often for each reason.
//
// Layer: above contract. One thread at a time uses it. Go counterpart:
// internal/work/load, reasons.go.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "kit/contract.h"

namespace netdyno {

/// Equal causes have equal texts. What a client keeps is bounded, whatever a server does.
class Reasons {
 public:
  /// How many of them result names; the rest are counted together.
  static constexpr std::size_t kMost = 16;
  /// Bytes of a text.
  static constexpr std::size_t kMostText = 120;

  void add(contract::ErrorKind kind, std::string_view text, std::int64_t count = 1) {
    const std::string shown = text.empty() ? std::string(usual(kind)) : printable(text);
    for (contract::Reason& known : all_) {
      if (known.kind == kind && known.text == shown) return void(known.count += count);
    }
    if (all_.size() < kKept) {
      all_.push_back({kind, shown, count});
    } else {
      others_ += count;
    }
  }

  void merge(const Reasons& from) {
    for (const contract::Reason& reason : from.all_) add(*reason.kind, reason.text, reason.count);
    others_ += from.others_;
  }

  /// The most frequent ones, falling, and the sum of the others at the end.
  std::vector<contract::Reason> most() const {
    std::vector<contract::Reason> sorted = all_;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::tuple(-a.count, contract::name(*a.kind), std::string_view(a.text)) <
             std::tuple(-b.count, contract::name(*b.kind), std::string_view(b.text));
    });
    std::int64_t rest = others_;
    for (; sorted.size() > kMost; sorted.pop_back()) rest += sorted.back().count;
    if (rest > 0) sorted.push_back({std::nullopt, "others", rest});
    return sorted;
  }

 private:
  static constexpr std::size_t kKept = 64;

  static std::string printable(std::string_view text) {
    std::string shown(text.substr(0, kMostText));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return shown;
  }

  /// What is said where nothing more is known.
  static std::string_view usual(contract::ErrorKind kind) {
    switch (kind) {
      case contract::ErrorKind::peer:
        return "connection lost";
      case contract::ErrorKind::timeout:
        return "timed out";
      case contract::ErrorKind::invalid:
        return "unexpected reply";
      default:
        return contract::name(kind);
    }
  }

  std::vector<contract::Reason> all_;
  std::int64_t others_ = 0;
};

/// A duration as texts have it: "40.0 ms", "1.50 s".
inline std::string duration_text(std::int64_t ns) {
  double value = static_cast<double>(ns) / 1e6;
  const bool seconds = value >= 999.5;
  if (seconds) value /= 1e3;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s",
                value < 9.995   ? 2
                : value < 99.95 ? 1
                                : 0,
                value, seconds ? "s" : "ms");
  return text.data();
}

/// What is said of an exchange that ended at its deadline.
inline std::string no_reply_within(std::int64_t deadline_ns) {
  return "no reply within the deadline of " + duration_text(deadline_ns);
}

/// Why a connection is gone: error is an errno, 0 where the peer closed it, below 0 where it
/// is not known.
inline std::string loss(int error) {
  if (error < 0) return "connection lost";
  switch (error) {
    case 0:
      return "connection closed";
    case ECONNRESET:
    case EPIPE:
      return "connection reset";
    case ECONNREFUSED:
      return "connection refused";
    case ETIMEDOUT:
      return "timed out";
    default:
      return std::generic_category().message(error);
  }
}

}  // namespace netdyno
