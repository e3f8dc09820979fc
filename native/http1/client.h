// A client of wire http/1.1: its first exchange on a connection, whose reply is compared, and the
// flow of the load, one request at a time and its reply.
//
// Layer: above exchange, reader, kit/flights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "http1/exchange.h"
#include "kit/agenda.h"
#include "kit/flow.h"
#include "kit/work.h"

namespace netdyno::http1 {

class HttpClient final : public Flow {
 public:
  /// asking outlives the flow. connection is its number among all of the client's.
  HttpClient(const Asking& asking, const Work::Place& place);

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override;

  bool unsent() const override { return at_ > 0 || flights_.waiting() > 0; }
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override { return {buffer_.get(), capacity_}; }
  void received(std::size_t n, std::int64_t now) override;

  Fate fate() const override { return fate_; }
  bool ended(std::int64_t now) override;
  void reopened(std::int64_t now) override;
  void made() override { connecting_ns_ = 0; }
  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  void choose();
  bool follow(std::int64_t now);
  void answered(bool keeps, std::int64_t now);
  void failed(contract::ErrorKind kind, const std::string& why, std::int64_t now);
  void renew();
  bool came_about() const;
  std::int64_t expires() const;
  void watch();
  void look(std::int64_t now);

  const Asking& asking_;
  std::int64_t connection_;
  std::uint32_t number_;
  Slot* slot_;  // the connection's; null where it carries no load
  Agenda& agenda_;
  Flights flights_;
  ReplyReader reader_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t at_ = 0;  // bytes written of a request that is not written whole
  Request request_;
  std::uint64_t chosen_ = 0;        // how many were chosen
  std::int64_t reopened_ns_ = 0;    // since when the connection is made anew; 0 once it was used
  std::int64_t repeats_ns_ = 0;     // when the request was sent that is to be repeated; 0 for none
  std::int64_t began_ns_ = 0;       // when the reply began that is followed; 0 before it
  std::int64_t connecting_ns_ = 0;  // since when it is being made; 0 for one that is there
  bool watched_ = false;            // the agenda is to say when time runs out
  bool used_ = true;                // a reply came on the connection; at first the verified one
  bool replying_ = false;           // a part of the reply has come
  Fate fate_ = Fate::open;
};

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

/// The first exchange of a client's connection, whose reply is compared.
class Verification final : public Work::Verification {
 public:
  /// asking and content outlive this.
  Verification(const Asking& asking, std::string_view content, std::int64_t connection);

  void begin(std::int64_t) override;
  void send(std::uint32_t) override;
  bool unsent() const override { return at_ < request_.size(); }
  std::span<const char> outgoing(std::int64_t) override { return request_.from(at_); }
  void written(std::size_t n) override { at_ += n; }
  std::span<char> read_buffer() override;
  void received(std::size_t n, std::int64_t) override;
  Fate fate() const override { return fate_; }
  bool ended(std::int64_t) override;

  bool verified() const override { return verified_; }
  bool asked() const override { return at_ > 0; }
  std::int64_t arrived() const override { return arrived_; }

 private:
  bool follow();
  void judge();
  [[noreturn]] void refuse(const Reply& reply) const;

  const Asking& asking_;
  std::int64_t connection_;
  Request request_;
  FirstReply reply_;
  std::unique_ptr<char[]> buffer_;
  std::size_t at_ = 0;
  std::int64_t arrived_ = 0;
  std::int64_t began_ns_ = 0;  // as HttpClient's
  bool verified_ = false;
  Fate fate_ = Fate::open;
};

}  // namespace netdyno::http1
