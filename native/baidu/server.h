// A server's end of one connection of wire baidu_std: answers requests in their
// order. Nothing is read before what was read is answered, so that a connection
// keeps no more than one buffer of requests and their answers' codes.
//
// Layer: above outbox, reader. Belongs to one loop's thread. Allocates while it
// meets its first frames, and then no more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baidu/options.h"
#include "baidu/outbox.h"
#include "baidu/reader.h"
#include "kit/server_flow.h"

namespace netdyno::baidu {

class BaiduServer final : public Flow {
 public:
  /// content and traffic outlive the server.
  BaiduServer(const Content& content, const Buffers& buffers, Traffic& traffic);
  ~BaiduServer() override;
  BaiduServer(const BaiduServer&) = delete;
  BaiduServer& operator=(const BaiduServer&) = delete;

  void begin(std::int64_t) override;
  void send(std::uint32_t) override {}

  bool unsent() const override { return !out_.empty() || gathered_ < answers_.size(); }
  std::span<const char> outgoing(std::int64_t) override;
  void written(std::size_t n) override { out_.written(n); }

  std::span<char> read_buffer() override { return unsent() ? std::span<char>() : reader_.read_buffer(); }
  /// Throws Failure{invalid} for bytes that are no frame. Close the connection then, because
  /// nothing that follows can be understood.
  void received(std::size_t n, std::int64_t) override;

  void abandon(contract::ErrorKind, std::int64_t) override;

 private:
  /// The answer to a request. The text of a refusal is made only when it is written, so that
  /// a request does not cost many times its size.
  struct Answer {
    std::int64_t id = 0;
    std::int32_t code = 0;
    Fault fault = Fault::none;
    std::int64_t found = 0;
  };

  Answer judge(const Frame& request) const;
  void add(const Answer& answer);

  const Content& content_;
  Traffic& traffic_;
  Reader reader_;
  Outbox out_;
  std::vector<Answer> answers_;  // to the requests of the last read
  std::size_t gathered_ = 0;     // how many of them are in a batch
  bool open_ = false;
  bool broken_ = false;
};

}  // namespace netdyno::baidu
