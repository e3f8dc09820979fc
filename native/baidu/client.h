// A client's flows of wire baidu_std: BaiduClient makes the calls of slots, and
// VerificationCall the verified call.
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

/// Makes the calls of a connection's slots. Each slot has at most one in flight.
class BaiduClient final : public Flow {
 public:
  /// content outlives the client.
  BaiduClient(const Content& content, const Buffers& buffers, Calls calls);

  void begin(std::int64_t now) override { calls_.begin(now); }
  void send(std::uint32_t slot) override { calls_.queue(slot); }

  bool unsent() const override { return !out_.empty() || calls_.waiting(); }
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;

  std::span<char> read_buffer() override { return reader_.read_buffer(); }
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
  std::size_t begun_ = 0;  // calls of the batch that were sent, at least in part
};

/// Makes one call and compares the reply.
class VerificationCall final : public Work::Verification {
 public:
  /// content outlives the call.
  VerificationCall(const Content& content, const Buffers& buffers, std::int64_t connection);

  void begin(std::int64_t) override;
  void send(std::uint32_t) override {}
  bool unsent() const override { return !out_.empty(); }
  std::span<const char> outgoing(std::int64_t) override { return out_.rest(); }
  void written(std::size_t n) override { out_.written(n); }
  std::span<char> read_buffer() override { return verified_ ? std::span<char>() : reader_.read_buffer(); }
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
