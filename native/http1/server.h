// A server's flow of wire http/1.1: answers requests in their order. It takes up a request
// once it has answered the one before, so that a connection keeps no more than one buffer.
//
// Layer: above exchange, reader, kit/server_flow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "http1/exchange.h"
#include "http1/reader.h"
#include "kit/server_flow.h"

namespace netdyno::http1 {

class HttpServer final : public ServerFlow {
 public:
  /// answering and traffic outlive the flow. size is the most that one read takes.
  HttpServer(const Answering& answering, std::size_t size, Traffic& traffic);

  bool unsent() const override { return reply_ != nullptr; }
  std::span<const char> outgoing(std::int64_t) override { return reply_->from(at_); }
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override;
  void received(std::size_t n, std::int64_t) override;

  Fate fate() const override { return last_ ? Fate::over : Fate::open; }

 private:
  void advance();
  void answer();
  void refuse(const std::string& why);
  void reply(const Message& message) { reply_ = &message; }

  const Answering& answering_;
  RequestReader reader_;
  std::size_t from_ = 0;  // the buffer's [from_, to_) is not parsed yet
  std::size_t to_ = 0;
  const Message* reply_ = nullptr;  // the one that is being written
  std::size_t at_ = 0;              // bytes written of it
  bool last_ = false;               // no request is taken after it
  std::optional<Message> refusal_;
};

}  // namespace netdyno::http1
