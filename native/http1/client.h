// A client's flow of wire http/1.1: one request at a time, and its reply.
//
// Layer: above exchange, reader, kit/flights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "http1/exchange.h"
#include "http1/reader.h"
#include "kit/flights.h"
#include "kit/flow.h"

namespace netdyno::http1 {

class HttpClient final : public Flow {
 public:
  /// asking outlives the flow. connection is its number among all of the client's.
  HttpClient(const Asking& asking, std::int64_t connection, Flights flights);

  void begin(std::int64_t now) override;
  void send(std::uint32_t slot) override { flights_.queue(slot); }

  bool unsent() const override { return at_ > 0 || flights_.waiting() > 0; }
  std::span<const char> outgoing(std::int64_t now) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override { return {buffer_.get(), capacity_}; }
  void received(std::size_t n, std::int64_t now) override;

  Fate fate() const override { return fate_; }
  bool ended(std::int64_t now) override;
  void reopened(std::int64_t now) override;
  void abandon(contract::ErrorKind kind, std::int64_t now) override;

 private:
  const Message& request() const { return asking_.request(connection_, turn_); }
  void answered(bool keeps, std::int64_t now);
  void failed(contract::ErrorKind kind, const std::string& why, std::int64_t now);
  void renew();
  bool came_about() const;

  const Asking& asking_;
  std::int64_t connection_;
  Flights flights_;
  ReplyReader reader_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t turn_ = 0;
  std::size_t at_ = 0;            // bytes written of a request that is not written whole
  std::int64_t reopened_ns_ = 0;  // since when the connection is made anew; 0 once it was used
  std::int64_t repeats_ns_ = 0;   // when the request was sent that is to be repeated; 0 for none
  bool used_ = true;              // a reply came on the connection; at first the verified one
  bool replying_ = false;         // a part of the reply has come
  Fate fate_ = Fate::open;
};

}  // namespace netdyno::http1
