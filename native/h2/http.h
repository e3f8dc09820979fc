// Plain HTTP on streams of HTTP/2, wire h2c (docs/wires.md). Its options and rules are those
// of wire http/1.1.
//
// Layer: above exchange, http1/options.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "h2/exchange.h"
#include "http1/options.h"
#include "kit/contract.h"

namespace netdyno::h2 {

class HttpAsking final : public Asking {
 public:
  /// Throws Failure{setup} for sizes or options that cannot be.
  explicit HttpAsking(const contract::Setup& setup);

  const Fields& fields(std::int64_t connection, std::size_t turn) const override;
  void begin(Outgoing& out) const override { out.piece = content_; }
  void field(Reply& reply, std::string_view name, std::string_view value) const override;
  bool data(Reply& reply, std::string_view bytes) const override;
  Verdict judge(const Reply& reply) const override;
  std::string explain(const Reply& reply) const override;
  std::string reason(const Reply& reply) const override;
  std::string compare(const Reply& reply) const override;
  std::size_t read_size(std::size_t in_flight) const override;

 private:
  bool any() const { return ask_.verify == http1::Verify::status; }
  std::int64_t most_body() const;
  void compose(Fields& fields, const std::string& path, const std::string& host) const;

  http1::Ask ask_;
  std::int64_t down_bytes_;
  std::int64_t connections_;
  const char* scheme_;
  std::string content_;
  std::string expected_;                      // content of a first reply; empty where it is not compared
  std::vector<std::deque<Fields>> requests_;  // by route, then by path
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
