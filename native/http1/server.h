// A server's flow of wire http/1.1, which takes up a request once it has answered the one before,
// so that a connection keeps no more than one buffer; and the wire's work for the kit's loop ends.
//
// Layer: above client.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "http1/exchange.h"
#include "kit/flow.h"
#include "kit/service.h"
#include "kit/work.h"

namespace netdyno::http1 {

class HttpServer final : public ServerFlow {
 public:
  /// answering, traffic and service, what is done for each exchange, outlive the flow. size is the
  /// most that one read takes.
  HttpServer(const Answering& answering, std::size_t size, Traffic& traffic, Service* service = nullptr);

  bool unsent() const override { return reply_ != nullptr && !resting_; }
  std::span<const char> outgoing(std::int64_t) override;
  void written(std::size_t n) override;
  bool lasting() const override { return true; }

  std::span<char> read_buffer() override;
  void received(std::size_t n, std::int64_t) override;
  void rested(std::int64_t) override;

  Fate fate() const override { return last_ && !resting_ ? Fate::over : Fate::open; }

 private:
  void advance();
  void answer();
  void agree(bool keeps);
  void refuse(const std::string& why);
  void reply(const Message& message) {
    reply_ = &message;
    part_ = message.size();
  }
  void pace();

  const Answering& answering_;
  Service* service_;
  RequestReader reader_;
  std::size_t from_ = 0;  // the buffer's [from_, to_) is not parsed yet
  std::size_t to_ = 0;
  const Message* reply_ = nullptr;  // the one that is being written
  std::size_t at_ = 0;              // bytes written of it
  std::size_t part_ = 0;            // of it where the part that is being written ends
  std::int64_t due_ = 0;            // when that part was due
  bool resting_ = false;            // the exchange is answered after it, or its next part is sent
  bool keeps_ = false;              // its connection is, after that
  bool last_ = false;               // no request is taken after it
  std::optional<Message> refusal_;
};

/// The wire's name.
inline constexpr char kHttp1[] = "http/1.1";

/// The description of a transport of this wire, with the options that all engines have.
contract::Transport transport(const std::string& name, const std::string& doc);

/// The parser's version, such as "8.1.0".
std::string parser_version();

/// Throws Failure{setup} for an exchange or an option that cannot be, Failure{unsupported}
/// for one that HTTP/1.1 does not carry. The setup's options are complete.
std::unique_ptr<const Work> work_of(const contract::Setup& setup);

}  // namespace netdyno::http1
