#include "http1/tunnel.h"

#include <array>
#include <cerrno>
#include <type_traits>
#include <utility>

#include "http1/options.h"
#include "http1/terms.h"

namespace netdyno::http1 {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// A client's flow, or its verification, of connections that lead through a proxy. The inner one
/// learns nothing of it: while the tunnel is made it is neither asked nor given anything.
template <class Inner>
class Tunnelled final : public Inner {
 public:
  /// request, which asks the proxy, outlives this. open: the tunnel is there already.
  Tunnelled(const std::string& request, std::unique_ptr<Inner> inner, bool open)
      : request_(request), inner_(std::move(inner)), open_(open) {}

  void begin(std::int64_t now) override { inner_->begin(now); }
  void send(std::uint32_t slot) override { inner_->send(slot); }

  bool unsent() const override {
    return open_ || inner_->fate() != Flow::Fate::open ? inner_->unsent() : at_ < request_.size();
  }
  std::span<const char> outgoing(std::int64_t now) override {
    return open_ ? inner_->outgoing(now) : std::span<const char>(request_).subspan(at_);
  }
  void written(std::size_t n) override { open_ ? inner_->written(n) : void(at_ += n); }
  bool lasting() const override { return inner_->lasting(); }

  std::span<char> read_buffer() override {
    if (open_) return inner_->read_buffer();
    return lost_ || inner_->fate() != Flow::Fate::open ? std::span<char>() : std::span<char>(room_);
  }
  void received(std::size_t n, std::int64_t now) override {
    if (open_) return inner_->received(n, now);
    head_.append(room_.data(), n);
    const std::size_t end = head_.find("\r\n\r\n");
    if (end == std::string::npos && head_.size() < kMostHead) return;
    const std::string line = head_.substr(0, head_.find("\r\n"));
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    open_ = end + 4 == head_.size() && line.starts_with("HTTP/1.") && line.size() > kVersion.size() &&
            line[kVersion.size()] == '2';
    if (open_) return inner_->made();
    fail(ECONNRESET, "the proxy answers " + shown(line, kMostReason), now);
  }

  Flow::Fate fate() const override { return lost_ ? Flow::Fate::lost : inner_->fate(); }
  bool ended(std::int64_t now) override {
    if (!open_ && inner_->fate() == Flow::Fate::open)
      return fail(this->error(), this->loss() + " in the proxy's tunnel", now);
    inner_->broke(this->error(), this->error() == Flow::kUnknown ? "" : this->loss());
    return inner_->ended(now);
  }
  void reopened(std::int64_t now) override {
    open_ = lost_ = false;
    at_ = 0;
    head_.clear();
    inner_->reopened(now);
  }
  void abandon(ErrorKind kind, std::int64_t now) override { inner_->abandon(kind, now); }

  // Of a verification.
  bool verified() const { return inner_->verified(); }
  bool asked() const { return inner_->asked(); }
  std::int64_t arrived() const { return inner_->arrived(); }

 private:
  static constexpr std::size_t kMostHead = 64 << 10;

  /// There is no tunnel. True where the inner flow does without.
  bool fail(int error, const std::string& why, std::int64_t now) {
    if constexpr (std::is_same_v<Inner, Work::Verification>) throw Failure(ErrorKind::peer, why);
    inner_->broke(error, why);
    lost_ = !inner_->ended(now);
    return !lost_;
  }

  const std::string& request_;
  std::unique_ptr<Inner> inner_;
  bool open_;
  bool lost_ = false;
  std::size_t at_ = 0;  // bytes of the request that are written
  std::string head_;    // of the proxy's answer
  std::array<char, 4 << 10> room_{};
};

class TunnelWork final : public Work {
 public:
  TunnelWork(std::string request, std::unique_ptr<const Work> inner)
      : request_(std::move(request)), inner_(std::move(inner)) {}

  std::unique_ptr<Flow> client(const Place& place) const override {
    return std::make_unique<Tunnelled<Flow>>(request_, inner_->client(place), true);
  }
  std::unique_ptr<Flow> server(std::size_t buffer, Traffic& traffic) const override {
    return inner_->server(buffer, traffic);
  }
  std::unique_ptr<Verification> verification(std::int64_t connection) const override {
    return std::make_unique<Tunnelled<Verification>>(request_, inner_->verification(connection), false);
  }
  std::optional<Sizes> encoded() const override { return inner_->encoded(); }
  Repeats repeats() const override { return inner_->repeats(); }
  std::vector<std::string> paths() const override { return inner_->paths(); }

 private:
  std::string request_;
  std::unique_ptr<const Work> inner_;
};

}  // namespace

std::unique_ptr<const Work> through(const contract::Setup& setup, std::unique_ptr<const Work> work) {
  if (setup.role != contract::Role::client || !setup.tls) return work;
  const Ask ask = ask_of(setup);
  if (ask.proxied.empty()) return work;
  std::string request =
      "CONNECT " + ask.proxied + " HTTP/1.1\r\nHost: " + ask.proxied + "\r\nUser-Agent: netdyno\r\n";
  if (!ask.proxy_authorization.empty())
    request.append("Proxy-Authorization: ").append(ask.proxy_authorization).append("\r\n");
  return std::make_unique<TunnelWork>(request + "\r\n", std::move(work));
}

}  // namespace netdyno::http1
