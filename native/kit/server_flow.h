// What the server's flows of wires echo and stream share: one buffer, and counters.
//
// Layer: above flow. Only one loop's thread uses a Traffic and its flows; any thread
// may read the sums.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kit/counters.h"
#include "kit/flow.h"

namespace netdyno {

/// What one loop of a server has counted. Its flows update it. A connection counts as
/// open from its flow's begin to its flow's destruction.
struct Traffic {
  Sum received;
  Sum sent;
  Sum exchanges;    // whose last byte was sent
  Sum connections;  // open now
  Sum invalid;      // connections whose first message had the wrong content
};

/// A server's flow. It records no times, so now may be 0 in every call.
class ServerFlow : public Flow {
 public:
  /// size is the buffer's, in bytes, and so the most that one read takes.
  ServerFlow(std::size_t size, Traffic& traffic) : size_(size), traffic_(traffic) {}
  ~ServerFlow() override {
    if (buffer_) traffic_.connections.add(-1);
  }
  ServerFlow(const ServerFlow&) = delete;
  ServerFlow& operator=(const ServerFlow&) = delete;

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
