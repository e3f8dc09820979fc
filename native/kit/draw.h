// What a trial draws from its seed, to the bit (contract/DRAWS.md, contract/MIXES.md): sizes and
// classes of its exchanges. Values are functions of their place alone.
//
// Layer: above contract, random, traffic. Immutable after construction: any thread may use it.
// Go counterpart: internal/draw/draw.go, internal/work/load/draws.go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/random.h"
#include "kit/traffic.h"

namespace netdyno {

/// Output number n, from 0, of splitmix64 that begins at state.
inline std::uint64_t output_at(std::uint64_t state, std::uint64_t n) {
  return mix(state + (n + 1) * 0x9e3779b97f4a7c15);
}

/// The streams of a seed.
enum class DrawStream : std::uint64_t { up = 1, down = 2, gaps = 3, classes = 4, keys = 5, work = 6 };

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

/// What one exchange carries: the sizes of its messages in bytes, and of a mix its class.
struct Draw {
  std::int64_t up = 0;
  std::int64_t down = 0;
  std::int32_t of_class = 0;    // its number; 0 where there are none
  std::int32_t path = kNoPath;  // of recorded traffic, its number
  std::int64_t key = 0;         // that stands for {key}
};

/// The sizes that messages have, fixed or drawn.
class Sizes {
 public:
  /// field is the part of setup that has them, as errors name it. Throws Failure{setup} for a
  /// table that is none.
  Sizes(const std::string& field, const contract::Exchange& exchange, std::uint64_t seed);

  bool up_vary() const { return up_.has_value(); }
  bool down_vary() const { return down_.has_value(); }
  /// Of exchange number n.
  Draw of(std::uint64_t n) const {
    Draw draw = fixed_;
    if (up_) draw.up = up_->draw(n);
    if (down_) draw.down = down_->draw(n);
    return draw;
  }
  /// The largest ones.
  const Draw& largest() const { return fixed_; }
  /// A reply is as long as its request: down is the draw of up.
  void echo() {
    down_ = up_;
    fixed_.down = fixed_.up;
  }
  /// From now on they are those of a class.
  void belong_to(std::int32_t of_class) { fixed_.of_class = of_class; }

 private:
  Draw fixed_;
  std::optional<Drawer> up_;
  std::optional<Drawer> down_;
};

/// What a client's exchanges carry; at a server, which of the sizes vary.
class Draws {
 public:
  /// Throws Failure{setup} for tables, classes and recorded traffic that are none, and for sizes
  /// beside a codec that encodes.
  explicit Draws(const contract::Setup& setup);

  /// Whether exchanges differ.
  bool vary() const { return up_varies() || down_varies(); }
  bool up_varies() const { return sizes_.up_vary() || !classes_.empty(); }
  /// Whether requests say how long their replies are to be.
  bool asks() const { return sizes_.down_vary(); }
  bool down_varies() const { return sizes_.down_vary() || !classes_.empty(); }

  /// Bytes of the largest message.
  std::int64_t largest() const { return std::max(sizes_.largest().up, sizes_.largest().down); }

  /// What exchange number n carries, and the first exchange of connection n.
  Draw of(std::uint64_t n) const { return classes_.empty() ? sizes_.of(n) : mixed(n); }

  /// As they are on wires that return what they are sent.
  void echo() {
    sizes_.echo();
    for (Sizes& each : classes_) each.echo();
  }

  /// Recorded traffic, which says when exchanges are due; nullptr where a schedule does.
  const Recording* recording() const { return recording_.get(); }
  /// Whether that is all that it says: what exchanges carry is drawn.
  bool times() const { return times_; }
  bool mixes() const { return !classes_.empty(); }
  /// What a request of it carries. Throws Failure{setup} where that is not as setup says.
  Draw of(const Recorded& request) const;
  /// After how long an exchange has failed, in ns; 0 for never.
  std::int64_t deadline_ns(const Draw& draw) const {
    return classes_.empty() ? 0 : deadlines_[static_cast<std::size_t>(draw.of_class)];
  }
  bool have_deadlines() const {
    return std::any_of(deadlines_.begin(), deadlines_.end(), [](std::int64_t ns) { return ns > 0; });
  }
  /// The path that recorded traffic has for an exchange; empty for none.
  std::string_view path(const Draw& draw) const {
    return recording_ && draw.path != kNoPath ? recording_->paths()[static_cast<std::size_t>(draw.path)]
                                              : std::string_view();
  }

 private:
  void take_classes(const contract::Setup& setup);
  void take_trace(const contract::Setup& setup);
  Draw mixed(std::uint64_t n) const;

  Sizes sizes_;                 // of all exchanges; the largest ones of a mix
  std::vector<Sizes> classes_;  // empty for no mix
  std::vector<std::int64_t> deadlines_;
  std::optional<Drawer> class_;  // none where recorded traffic says it
  std::optional<Drawer> keys_;
  std::shared_ptr<const Recording> recording_;
  bool times_ = false;       // recorded traffic says when exchanges are due, and no more
  bool even_ = false;        // the larger size of recorded traffic goes both ways
  std::vector<Draw> first_;  // what connections verify with, of recorded traffic
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
