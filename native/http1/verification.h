// The first exchange of a client's connection on wire http/1.1, whose reply is compared.
//
// Layer: above exchange, reader, kit/work.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http1/exchange.h"
#include "http1/reader.h"
#include "kit/work.h"

namespace netdyno::http1 {

/// Reads a reply and keeps what explains it, and how much of it is as expected.
class FirstReply final : public ReplyReader {
 public:
  /// content is what the body must be; it stays the caller's. Empty for any.
  FirstReply(const Asking& asking, std::string_view content);

  const std::string& phrase() const { return phrase_; }
  /// What the body begins with.
  const std::string& beginning() const { return begin_; }
  /// Whether a byte is not what was expected.
  bool differs() const { return differs_; }

 protected:
  void on_status(std::string_view part) override;
  void on_body(std::string_view part) override;
  bool on_end() override;

 private:
  std::string_view content_;
  std::string phrase_;
  std::string begin_;
  std::size_t seen_ = 0;
  bool differs_ = false;
};

class Verification final : public Work::Verification {
 public:
  /// asking and content outlive this.
  Verification(const Asking& asking, std::string_view content, std::int64_t connection);

  void begin(std::int64_t) override;
  bool unsent() const override { return at_ < request().size(); }
  std::span<const char> outgoing(std::int64_t) override { return request().from(at_); }
  void written(std::size_t n) override { at_ += n; }
  std::span<char> read_buffer() override;
  void received(std::size_t n, std::int64_t) override;
  Fate fate() const override { return fate_; }
  bool ended(std::int64_t) override;

  bool verified() const override { return verified_; }
  std::int64_t arrived() const override { return arrived_; }

 private:
  const Message& request() const { return asking_.request(connection_, 0); }
  void judge();

  const Asking& asking_;
  std::int64_t connection_;
  FirstReply reply_;
  std::unique_ptr<char[]> buffer_;
  std::size_t at_ = 0;
  std::int64_t arrived_ = 0;
  bool verified_ = false;
  Fate fate_ = Fate::open;
};

}  // namespace netdyno::http1
