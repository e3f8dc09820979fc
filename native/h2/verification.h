// The first exchange of a client's connection of HTTP/2, whose reply is compared, on a stream
// that ends with it. Its session is handed on to the flow that carries the load: what both
// ends have agreed on the connection stays true.
//
// Layer: above exchange, session, kit/work.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "h2/exchange.h"
#include "h2/session.h"
#include "kit/work.h"

namespace netdyno::h2 {

class Verification final : public Work::Verification, private Events {
 public:
  /// asking outlives this. streams is how many the load will need at once. to takes the
  /// session once the exchange is verified; it outlives this.
  Verification(const Asking& asking, const Settings& settings, std::int64_t connection, std::int64_t streams,
               std::unique_ptr<Session>& to);
  ~Verification() override;
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  void begin(std::int64_t) override;
  bool unsent() const override { return session_->unsent(); }
  std::span<const char> outgoing(std::int64_t) override { return session_->outgoing(); }
  void written(std::size_t n) override { session_->written(n); }
  std::span<char> read_buffer() override;
  void received(std::size_t n, std::int64_t) override;
  Fate fate() const override { return gone_ ? Fate::over : Fate::open; }
  bool ended(std::int64_t) override;

  bool verified() const override { return verified_; }
  std::int64_t arrived() const override { return arrived_; }

 private:
  struct First : Stream {
    Outgoing out;
    Reply reply;
    std::uint32_t code = 0;
    bool over = false;
  };

  void field(Stream& stream, std::string_view name, std::string_view value) override;
  void data(Stream& stream, std::string_view bytes) override;
  void more(Stream& stream) override;
  void ended(Stream& stream) override;
  void closed(Stream& stream, std::uint32_t code) override;
  void going_away(std::uint32_t code) override;

  void judge();
  void require_sense() const;
  std::string farewell() const;

  const Asking& asking_;
  std::int64_t connection_;
  std::int64_t streams_;
  std::unique_ptr<Session>& to_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<char[]> buffer_;
  First first_;
  std::array<char, 5> opening_{};  // the first bytes that came, to tell what speaks there
  std::int64_t arrived_ = 0;
  std::optional<std::uint32_t> gone_;  // the code by which the peer goes away
  bool verified_ = false;
};

}  // namespace netdyno::h2
