// What a trial draws from its seed, to the bit (contract/DRAWS.md): the sizes of its
// exchanges. Values are functions of their place alone.
//
// Layer: above contract, random. Immutable after construction: any thread may use it.
// Go counterpart: internal/draw/draw.go, internal/work/load/draws.go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/random.h"

namespace netdyno {

/// Output number n, from 0, of splitmix64 that begins at state.
inline std::uint64_t output_at(std::uint64_t state, std::uint64_t n) {
  return mix(state + (n + 1) * 0x9e3779b97f4a7c15);
}

/// The streams of a seed.
enum class DrawStream : std::uint64_t { up = 1, down = 2, gaps = 3, classes = 4, work = 6 };

/// The state at which a stream of a seed begins.
inline std::uint64_t begin_of(DrawStream stream, std::uint64_t seed) {
  return output_at(seed, static_cast<std::uint64_t>(stream) - 1);
}

/// Draws from a table.
class Drawer {
 public:
  /// table is one that wrong_table finds nothing wrong with.
  Drawer(const contract::Table& table, std::uint64_t seed, DrawStream stream);

  /// Number n of the stream, in a few ns.
  std::int64_t draw(std::uint64_t n) const {
    const std::uint64_t u = output_at(base_, n);
    const Segment* segment = &segments_[guide_[u >> (64 - kGuideBits)]];
    while (segment->end <= u >> 32) segment++;
    return static_cast<std::int64_t>(segment->low + ((u & 0xffffffff) * segment->span >> 32));
  }

 private:
  /// By so many leading bits of a draw the guide finds its segment, or one shortly before it.
  static constexpr int kGuideBits = 10;
  struct Segment {
    std::uint64_t end;
    std::uint64_t low;
    std::uint64_t span;
  };

  std::uint64_t base_;
  std::vector<std::uint16_t> guide_;
  std::vector<Segment> segments_;
};

/// The sizes of one exchange's messages, in bytes.
struct Draw {
  std::int64_t up = 0;
  std::int64_t down = 0;
};

/// The sizes of a client's exchanges; at a server, which of them vary.
class Draws {
 public:
  /// Throws Failure{setup} for a table that is none, and for sizes beside a codec that encodes.
  explicit Draws(const contract::Setup& setup);

  bool vary() const { return up_ || down_; }
  bool up_varies() const { return up_.has_value(); }
  /// Whether requests say how long their replies are to be.
  bool down_varies() const { return down_.has_value(); }

  /// What exchange number n carries, and the first exchange of connection n.
  Draw of(std::uint64_t n) const {
    return {up_ ? up_->draw(n) : fixed_.up, down_ ? down_->draw(n) : fixed_.down};
  }

 private:
  Draw fixed_;
  std::optional<Drawer> up_;
  std::optional<Drawer> down_;
};

/// The header, or gRPC's metadata, by which a request says how long its reply is to be, where
/// sizes down are drawn (CONTRACT.md, section Wires).
inline constexpr char kDownHeader[] = "netdyno-down";

/// What a request said by it.
struct AskedDown {
  static constexpr std::size_t kKept = 20;  // characters of it
  std::string text;
  std::int64_t bytes = -1;  // -1: it says none that may be

  void begin() {
    text.clear();
    bytes = -1;
  }
  /// Reads the header's value, where most is the length of the longest reply.
  void read(std::string_view value, std::int64_t most);
  /// What is wrong where bytes is -1.
  std::string problem(std::int64_t most) const;
};

}  // namespace netdyno
