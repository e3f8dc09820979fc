// A wire whose calls may be their connection's last, as HTTP's may: a byte up, and the same
// down. Layer: test.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "kit/flow.h"
#include "kit/work.h"

namespace netdyno::tls::test {

inline constexpr char kCall = 'c';
/// Its connection ends with the reply.
inline constexpr char kLastCall = 'e';

/// A client's end, which makes one call after another. Base is Flow or Work::Verification.
template <class Base>
class Caller : public Base {
 public:
  using Fate = Flow::Fate;

  /// Every fourth call is its connection's last.
  explicit Caller(int calls) : left_(calls) {}

  void begin(std::int64_t) override {}
  void send(std::uint32_t) override {}
  bool unsent() const override { return left_ > 0 && !waits_; }
  std::span<const char> outgoing(std::int64_t) override {
    call_ = left_ % 4 == 3 ? kLastCall : kCall;
    return {&call_, 1};
  }
  void written(std::size_t n) override { waits_ = waits_ || n > 0; }
  std::span<char> read_buffer() override { return buffer_; }
  void received(std::size_t n, std::int64_t) override {
    for (const char reply : std::span(buffer_).first(n)) {
      if (!waits_ || fate_ != Fate::open || reply != call_) {
        fate_ = Fate::lost;
        return;
      }
      waits_ = false;
      left_--;
      if (reply == kLastCall) fate_ = Fate::over;
    }
  }
  Fate fate() const override { return fate_; }
  bool ended(std::int64_t) override {
    if (waits_) return false;
    fate_ = Fate::over;
    return true;
  }
  void reopened(std::int64_t) override { fate_ = Fate::open; }
  void abandon(contract::ErrorKind, std::int64_t) override { left_ = 0; }

 protected:
  int left() const { return left_; }
  bool waits() const { return waits_; }

 private:
  int left_;
  bool waits_ = false;
  char call_ = kCall;
  Fate fate_ = Fate::open;
  std::array<char, 7> buffer_{};
};

class FirstCall final : public Caller<Work::Verification> {
 public:
  FirstCall() : Caller(1) {}
  bool verified() const override { return left() == 0; }
  bool asked() const override { return verified() || waits(); }
  std::int64_t arrived() const override { return 1 - left(); }
};

class Answerer final : public ServerFlow {
 public:
  using ServerFlow::ServerFlow;

  bool unsent() const override { return from_ < to_; }
  std::span<const char> outgoing(std::int64_t) override { return buffer().subspan(from_, to_ - from_); }
  void written(std::size_t n) override {
    from_ += n;
    traffic().sent.add(static_cast<std::int64_t>(n));
    traffic().exchanges.add(static_cast<std::int64_t>(n));
  }
  std::span<char> read_buffer() override { return unsent() || ends_ ? std::span<char>() : buffer(); }
  void received(std::size_t n, std::int64_t) override {
    const auto calls = buffer().first(n);
    const auto last = std::find(calls.begin(), calls.end(), kLastCall);
    ends_ = last != calls.end();
    from_ = 0;
    to_ = ends_ ? static_cast<std::size_t>(last - calls.begin()) + 1 : n;
    traffic().received.add(static_cast<std::int64_t>(to_));
  }
  Fate fate() const override { return ends_ ? Fate::over : Fate::open; }

 private:
  std::size_t from_ = 0;  // the buffer's [from_, to_) is still to be returned
  std::size_t to_ = 0;
  bool ends_ = false;
};

class Calls final : public Work {
 public:
  /// So many of each connection's flow.
  explicit Calls(int calls) : calls_(calls) {}

  std::unique_ptr<Flow> client(const Place&) const override { return std::make_unique<Caller<Flow>>(calls_); }
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override {
    return std::make_unique<Answerer>(buffer, traffic);
  }
  std::unique_ptr<Verification> verification(std::int64_t) const override {
    return std::make_unique<FirstCall>();
  }

 private:
  int calls_;
};

}  // namespace netdyno::tls::test
