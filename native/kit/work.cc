#include "kit/work.h"

#include <algorithm>
#include <string>

#include "kit/echo.h"
#include "kit/service.h"
#include "kit/stream.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// The most that a flow of one exchange buffers, in bytes.
constexpr std::int64_t kVerificationBuffer = 64 << 10;

/// The server's flow of wire echo. It reads nothing before it has returned all that it
/// read.
class EchoServer final : public ServerFlow {
 public:
  EchoServer(std::int64_t message, std::size_t buffer, Traffic& traffic, Service* service)
      : ServerFlow(buffer, traffic), message_(message), service_(service) {}

  bool unsent() const override { return from_ < to_ && !resting_; }
  std::span<const char> outgoing(std::int64_t) override { return buffer().subspan(from_, to_ - from_); }
  void written(std::size_t n) override {
    from_ += n;
    traffic().sent.add(static_cast<std::int64_t>(n));
    part_ += static_cast<std::int64_t>(n);
    if (part_ < message_) return;
    traffic().exchanges.add(part_ / message_);
    part_ %= message_;
  }

  std::span<char> read_buffer() override {
    if (from_ < to_) return {};
    if (service_ == nullptr) return buffer();
    const auto rest = static_cast<std::size_t>(message_ - arrived_);  // each message has work of its own
    return buffer().first(std::min(buffer().size(), rest));
  }
  void received(std::size_t n, std::int64_t) override {
    from_ = 0;
    to_ = n;
    traffic().received.add(static_cast<std::int64_t>(n));
    if (service_ == nullptr) return;
    arrived_ += static_cast<std::int64_t>(n);
    if (arrived_ < message_) return;
    arrived_ = 0;
    if (!service_->sleeps() || traffic().blocks) return service_->serve();
    resting_ = true;
    rest(now_ns() + service_->next());
  }
  void rested(std::int64_t) override { resting_ = false; }

 private:
  std::int64_t message_;
  Service* service_;          // nullptr for none
  bool resting_ = false;      // what was read is returned after it
  std::int64_t arrived_ = 0;  // with service: bytes that came of a message that is not complete
  std::int64_t part_ = 0;     // bytes returned of a message that is not complete yet
  std::size_t from_ = 0;      // the buffer's [from_, to_) is still to be returned
  std::size_t to_ = 0;
};

/// What the verifications of both wires share: one exchange whose reply is checked
/// piece by piece and dropped.
class OneExchange : public Work::Verification {
 public:
  explicit OneExchange(std::int64_t down_bytes) : down_bytes_(down_bytes) {}

  void begin(std::int64_t) override {
    buffer_ = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(capacity()));
  }

  std::span<char> read_buffer() override {
    return {buffer_.get(), static_cast<std::size_t>(std::min(capacity(), down_bytes_ - arrived_))};
  }
  void received(std::size_t n, std::int64_t) override {
    look({buffer_.get(), n});
    arrived_ += static_cast<std::int64_t>(n);
  }
  void written(std::size_t n) override { at_ += n; }
  bool asked() const override { return at_ > 0; }
  std::int64_t arrived() const override { return arrived_; }
  bool verified() const override { return arrived_ == down_bytes_; }

 protected:
  /// Bytes of the request that went out.
  std::size_t at() const { return at_; }
  /// Checks the bytes of the reply that follow the first arrived(). Throws
  /// Failure{invalid}.
  virtual void look(std::span<const char> bytes) = 0;

 private:
  std::int64_t capacity() const { return std::min(down_bytes_, kVerificationBuffer); }

  std::int64_t down_bytes_;
  std::int64_t arrived_ = 0;
  std::size_t at_ = 0;
  std::unique_ptr<char[]> buffer_;
};

class EchoVerification final : public OneExchange {
 public:
  EchoVerification(const EchoPayload& payload, const EchoPayload::Stamped& message)
      : OneExchange(static_cast<std::int64_t>(payload.size())), payload_(payload), message_(message) {}

  bool unsent() const override { return at() < payload_.size(); }
  std::span<const char> outgoing(std::int64_t) override {
    const std::size_t stamp = message_.stamp_size;
    if (at() < stamp) return std::span(message_.stamp).subspan(at(), stamp - at());
    return payload_.after_stamp(message_).subspan(at() - stamp);
  }

 private:
  void look(std::span<const char> bytes) override {
    sum_ = EchoPayload::sum_of(bytes, sum_);
    const auto so_far = static_cast<std::size_t>(arrived()) + bytes.size();
    if (so_far == payload_.size()) payload_.verify(message_, sum_);
  }

  const EchoPayload& payload_;
  EchoPayload::Stamped message_;
  std::uint32_t sum_ = 0;
};

class StreamVerification final : public OneExchange {
 public:
  explicit StreamVerification(const StreamPlan& plan) : OneExchange(plan.down().bytes()), plan_(plan) {}

  bool unsent() const override { return gone() < plan_.up().bytes(); }
  std::span<const char> outgoing(std::int64_t) override { return plan_.up().from(gone()); }

 private:
  void look(std::span<const char> bytes) override {
    const auto n = static_cast<std::int64_t>(bytes.size());
    if (arrived() + n > plan_.answerable(gone())) {
      throw Failure(ErrorKind::invalid, "byte " + std::to_string(plan_.answerable(gone())) +
                                            " came down when " + std::to_string(at()) + " of " +
                                            std::to_string(plan_.up().bytes()) + " bytes had gone up");
    }
    const std::size_t agreed = plan_.down().agreeing(arrived(), bytes);
    if (agreed == bytes.size()) return;
    throw Failure(ErrorKind::invalid,
                  "byte " + std::to_string(arrived() + static_cast<std::int64_t>(agreed)) + " of " +
                      std::to_string(plan_.down().bytes()) + " is not what comes down on wire stream");
  }

  std::int64_t gone() const { return static_cast<std::int64_t>(at()); }

  const StreamPlan& plan_;
};

class EchoWork final : public Work {
 public:
  explicit EchoWork(const contract::Setup& setup) : bytes_(EchoPayload::check(setup)) {
    service_ = Service::of(setup);
    // Only clients need the content.
    if (setup.role == contract::Role::client) payload_.emplace(setup);
  }

  std::unique_ptr<Flow> client(const Place& place) const override {
    return std::make_unique<Pipeline>(*payload_, Flights(place.number, place.slots, place.agenda));
  }
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override {
    return std::make_unique<EchoServer>(bytes_, buffer, traffic, service_.get());
  }
  std::unique_ptr<Verification> verification(std::int64_t connection) const override {
    return std::make_unique<EchoVerification>(*payload_, payload_->stamped(connection));
  }

 private:
  std::int64_t bytes_;  // of a message, by which a server counts exchanges
  std::optional<EchoPayload> payload_;
  std::unique_ptr<Service> service_;
};

class StreamWork final : public Work {
 public:
  explicit StreamWork(const contract::Setup& setup) : plan_(setup) {}

  std::unique_ptr<Flow> client(const Place& place) const override {
    return std::make_unique<StreamClient>(plan_, Flights(place.number, place.slots, place.agenda));
  }
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override {
    return std::make_unique<StreamServer>(plan_, buffer, traffic);
  }
  std::unique_ptr<Verification> verification(std::int64_t) const override {
    return std::make_unique<StreamVerification>(plan_);
  }

 private:
  StreamPlan plan_;
};

}  // namespace

std::unique_ptr<const Work> Work::of(const contract::Setup& setup) {
  if (setup.exchange.stream == contract::Stream::none) return std::make_unique<EchoWork>(setup);
  if (setup.work && setup.role == contract::Role::server) {
    throw Failure(ErrorKind::unsupported, "work is given: on wire stream the servers in C++ have none");
  }
  return std::make_unique<StreamWork>(setup);
}

std::unique_ptr<const Work> Work::of_messages(const contract::Setup& setup) {
  return std::make_unique<StreamWork>(setup);
}

}  // namespace netdyno
