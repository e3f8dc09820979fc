// What the ends of one trial send and expect on wire http/1.1 (docs/wires.md).
//
// Layer: above terms, message. Immutable after construction: any thread may use
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "http1/message.h"
#include "http1/terms.h"
#include "kit/contract.h"

namespace netdyno::http1 {

/// The client's part.
class Asking {
 public:
  /// Throws Failure: setup for sizes or options that cannot be, unsupported for exchanges
  /// that HTTP/1.1 does not carry.
  explicit Asking(const contract::Setup& setup);

  const Terms& terms() const { return terms_; }
  /// The request that a connection makes at a turn.
  const Message& request(std::int64_t connection, std::size_t turn) const {
    return requests_.at(connection, turn);
  }
  bool to_head() const { return terms_.method() == "HEAD"; }
  bool fresh() const { return fresh_; }
  /// Bytes that one read of a connection takes at most.
  std::size_t read_size() const;

 private:
  std::string head_of(const std::string& path, const std::string& host) const;

  Terms terms_;
  bool fresh_;
  Turns<Message> requests_;
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
