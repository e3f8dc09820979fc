// What the ends of one trial send and expect on wire http/1.1 (docs/wires.md).
//
// Layer: above options, message, reader. Immutable after construction: any thread may use
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http1/message.h"
#include "http1/options.h"
#include "http1/reader.h"
#include "kit/contract.h"

namespace netdyno::http1 {

/// What a client is told of a reply, once it is complete.
struct Reply {
  int status = 0;
  std::int64_t bytes = 0;
};

/// The client's part.
class Asking {
 public:
  /// Throws Failure: setup for sizes or options that cannot be, unsupported for exchanges
  /// that HTTP/1.1 does not carry.
  explicit Asking(const contract::Setup& setup);

  /// The request that a connection makes at a turn. Connections begin evenly spread over
  /// the paths, so that the middle of a long list is asked for too.
  const Message& request(std::int64_t connection, std::size_t turn) const;

  bool takes(const Reply& reply) const {
    return ask_.takes(reply.status) && (any() || reply.bytes == down_bytes_);
  }
  /// What is wrong with a reply that is not taken. reason is what its body begins with.
  std::string explain(const Reply& reply, const std::string& phrase, const std::string& reason) const;
  /// The same in short, as a reason of failed exchanges.
  std::string wrong(const Reply& reply) const;
  /// Whether a request does the same where it is sent twice (RFC 9110, section 9.2.2).
  bool repeatable() const { return repeatable_; }
  /// Whether a reply may have any length.
  bool any() const { return ask_.verify == Verify::status; }
  /// What a first reply must consist of; empty where the content is not compared.
  std::string expected_content() const;

  std::int64_t down_bytes() const { return down_bytes_; }
  /// Bytes of a body after which a reply is given up. A wrong one is read a little further,
  /// so that the connection can be used again.
  std::int64_t most_body() const;
  bool to_head() const { return ask_.method == "HEAD"; }
  bool fresh() const { return fresh_; }
  /// Bytes that one read of a connection takes at most.
  std::size_t read_size() const;

 private:
  std::string method_of() const;
  void compose(const contract::Setup& setup);
  std::string head_of(const std::string& path, const std::string& host) const;

  Ask ask_;
  std::int64_t down_bytes_;
  bool fresh_;
  bool repeatable_ = false;
  std::int64_t connections_;
  std::string content_;
  std::vector<std::vector<Message>> requests_;  // by route, then by path
};

/// The server's part.
class Answering {
 public:
  /// Throws as Asking does.
  explicit Answering(const contract::Setup& setup);

  /// The reply to a request that was right, and the same where the connection ends then.
  const Message& right(bool keeps) const { return keeps ? *right_ : *last_; }
  /// The reply to a method that is not served.
  const Message& not_allowed(bool to_head) const { return to_head ? *not_allowed_head_ : *not_allowed_; }
  /// "100 Continue".
  const Message& proceed() const { return *proceed_; }
  /// The reply to a request that was wrong: the connection ends with it.
  static Message wrong(const std::string& why);

  std::int64_t up_bytes() const { return up_bytes_; }
  std::int64_t down_bytes() const { return down_bytes_; }
  /// Bytes of a body after which a request is refused unread.
  std::int64_t most_body() const;

 private:
  std::int64_t up_bytes_;
  std::int64_t down_bytes_;
  std::string content_;
  std::optional<Message> right_;
  std::optional<Message> last_;
  std::optional<Message> not_allowed_;
  std::optional<Message> not_allowed_head_;
  std::optional<Message> proceed_;
};

}  // namespace netdyno::http1
