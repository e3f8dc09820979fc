// What a server's ends of wires echo and stream have in common: one buffer, and
// what they count.
//
// Layer: above flow. A Traffic and its flows belong to one loop's thread; any
// thread may read the sums.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kit/flow.h"
#include "kit/tally.h"

namespace netdyno {

/// What one loop of a server has seen. Its flows keep it: a connection is open
/// from its flow's begin to its flow's destruction.
struct Traffic {
  Sum received;
  Sum sent;
  Sum exchanges;    // whose last byte down was written
  Sum connections;  // open now
  Sum invalid;      // connections that brought another content than they had to
};

/// A server's flow. It takes no times: now may be 0 in every call.
class Serving : public Flow {
 public:
  /// size is that of the buffer, which is what one read takes at most.
  Serving(std::size_t size, Traffic& traffic) : size_(size), traffic_(traffic) {}
  ~Serving() override {
    if (buffer_) traffic_.connections.add(-1);
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  void begin(std::int64_t) override {
    buffer_ = std::make_unique_for_overwrite<char[]>(size_);
    traffic_.connections.add(1);
  }
  void send(std::uint32_t) override {}
  void abandon(contract::ErrorKind, std::int64_t) override {}

 protected:
  std::span<char> buffer() const { return {buffer_.get(), size_}; }
  Traffic& traffic() { return traffic_; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> buffer_;
  Traffic& traffic_;
};

}  // namespace netdyno
