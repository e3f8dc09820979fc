// A client's ends of wire baidu_std: one that calls for its slots, and one that
// makes the verified call.
//
// Layer: above calls, outbox, reader.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baidu/calls.h"
#include "baidu/options.h"
#include "baidu/outbox.h"
#include "baidu/reader.h"
#include "kit/work.h"

namespace netdyno::baidu {

/// Calls of a connection's slots, as many in flight as there are slots.
class Caller final : public Flow {
 public:
  /// content outlives the caller.
  Caller(const Content& content, const Buffers& buffers, Calls calls);

  void begin(std::int64_t now) override { calls_.begin(now); }
  void send(std::uint32_t slot) override { calls_.queue(slot); }

  bool unsent() const override { return !out_.empty() || calls_.waiting(); }
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;

  std::span<char> room() override { return reader_.room(); }
  void received(std::size_t n, std::int64_t now) override;

  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  struct Leaving {
    std::uint32_t slot;
    std::size_t begin;  // in the batch
  };

  void gather();
  void answered(const Frame& reply, std::int64_t now);

  const Content& content_;
  Calls calls_;
  Reader reader_;
  Outbox out_;
  std::vector<Leaving> batch_;
  std::size_t begun_ = 0;  // of the batch, the calls that were sent at least in part
};

/// Makes one call and compares what comes.
class TrialCall final : public Work::Trial {
 public:
  /// content outlives the call.
  TrialCall(const Content& content, const Buffers& buffers, std::int64_t connection);

  void begin(std::int64_t) override;
  void send(std::uint32_t) override {}
  bool unsent() const override { return !out_.empty(); }
  std::span<const char> outgoing(std::int64_t) override { return out_.rest(); }
  void written(std::size_t n) override { out_.written(n); }
  std::span<char> room() override { return verified_ ? std::span<char>() : reader_.room(); }
  void received(std::size_t n, std::int64_t now) override;
  void abandon(contract::ErrorKind, std::int64_t) override {}

  bool verified() const override { return verified_; }
  std::int64_t arrived() const override { return arrived_; }

 private:
  void verify(const Frame& reply) const;

  const Content& content_;
  std::int64_t connection_;
  Reader reader_;
  Outbox out_;
  std::int64_t arrived_ = 0;
  bool verified_ = false;
};

}  // namespace netdyno::baidu
