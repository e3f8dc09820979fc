// Plain HTTP on streams of HTTP/2, wire h2c (docs/wires.md). Its options and rules are those
// of wire http/1.1.
//
// Layer: above exchange, http1/terms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "h2/exchange.h"
#include "http1/terms.h"
#include "kit/contract.h"

namespace netdyno::h2 {

class HttpAsking final : public Asking {
 public:
  /// Throws Failure{setup} for sizes or options that cannot be.
  explicit HttpAsking(const contract::Setup& setup);

  const Fields& fields(std::int64_t connection, std::size_t turn) const override {
    return requests_.at(connection, turn);
  }
  void begin(Outgoing& out) const override { out.piece = terms_.content(); }
  void field(Reply& reply, std::string_view name, std::string_view value) const override;
  bool data(Reply& reply, std::string_view bytes) const override;
  Verdict judge(const Reply& reply) const override {
    return {reply.bytes, terms_.takes({reply.status, reply.bytes})};
  }
  void require(const Reply& reply) const override;
  std::string reason(const Reply& reply) const override { return terms_.reason({reply.status, reply.bytes}); }
  Work::Repeats repeats() const override { return terms_.repeats(); }
  std::size_t read_size(std::size_t in_flight) const override;

 private:
  http1::Terms terms_;
  std::string expected_;  // content of a first reply; empty where it is not compared
  http1::Turns<Fields> requests_;
};

class HttpAnswering final : public Answering {
 public:
  /// Throws as HttpAsking does.
  explicit HttpAnswering(const contract::Setup& setup);

  void field(Request& request, std::string_view name, std::string_view value) const override;
  bool data(Request& request, std::string_view bytes) const override;
  void answer(Request& request) const override;
  void begin(Request& request) const override { request.out.piece = content_; }
  std::int64_t down_bytes() const override { return down_bytes_; }

 private:
  std::int64_t up_bytes_;
  std::int64_t down_bytes_;
  std::string content_;
  Fields right_;
};

}  // namespace netdyno::h2
