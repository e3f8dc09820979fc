// Splits the bytes of one connection into messages of HTTP/1.1 by llhttp, whatever pieces
// they arrive in. Bodies are handed on where they were read and kept nowhere, so memory
// does not grow with what a peer sends.
//
// Layer: bottom of http1. It moves no bytes itself. Only one thread uses a reader, which
// never moves: the parser holds its address.
#pragma once

#include <llhttp.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace netdyno::http1 {

class Reader {
 public:
  /// The most bytes without one of a body between them: of a message's head, and of those
  /// that came before it without an answer in them (1xx), of a chunk's extensions, of
  /// trailers.
  static constexpr std::size_t kMostHead = 64 << 10;

  /// What is wrong with a message of more.
  static std::string headless() {
    return "the reply has more than " + std::to_string(kMostHead) + " bytes of headers";
  }

  enum class Outcome {
    more,       // all bytes were taken, and the message goes on
    complete,   // it ended; what follows it was not taken
    endless,    // its body is longer than the reader takes
    headless,   // more than kMostHead bytes of head
    malformed,  // it is no HTTP; problem() says why
  };

  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Takes bytes up to the end of the message. After any outcome but more, call next
  /// before the next message; after the last three the connection cannot be followed.
  Outcome read(std::span<const char> bytes);
  /// How many bytes of the last read belong to the message. Only after complete.
  std::size_t taken() const { return taken_; }
  /// The connection ended. Complete if that ends the message, malformed if it cuts one off.
  Outcome finish();
  /// Prepares for the next message.
  void next();

  /// Bytes of the body so far.
  std::int64_t body() const { return body_; }
  /// Whether the connection can carry another message.
  bool keeps() const { return keeps_; }
  /// Why the bytes are no HTTP, in the parser's words.
  std::string problem() const;

 protected:
  /// A body longer than most bytes is endless.
  Reader(llhttp_type_t type, std::int64_t most);
  virtual ~Reader() = default;

  const llhttp_t& parser() const { return parser_; }

  // What messages say, as far as one wants to know.
  virtual void on_status(std::string_view) {}
  virtual void on_field(std::string_view) {}
  virtual void on_field_end() {}
  virtual void on_value(std::string_view) {}
  virtual void on_value_end() {}
  /// The head is complete. True when no body follows, whatever the head says.
  virtual bool on_head() { return false; }
  virtual void on_body(std::string_view) {}
  /// The message is complete. False when another one follows it that belongs to it (1xx).
  virtual bool on_end() { return true; }

 private:
  friend struct Callbacks;

  llhttp_t parser_{};
  std::int64_t most_;
  std::int64_t body_ = 0;
  std::size_t head_ = 0;  // bytes since the last one of a body
  std::size_t taken_ = 0;
  bool keeps_ = false;
  bool complete_ = false;
  bool endless_ = false;
};

/// Reads the replies of a server. Replies 1xx before the one that counts are passed over.
class ReplyReader : public Reader {
 public:
  /// A reply to HEAD has no body.
  ReplyReader(std::int64_t most, bool to_head) : Reader(HTTP_RESPONSE, most), to_head_(to_head) {}
  ~ReplyReader() override = default;

  int status() const { return parser().status_code; }

 protected:
  bool on_head() override { return to_head_ || bodiless(status()); }
  bool on_end() override { return status() / 100 != 1 || status() == HTTP_STATUS_SWITCHING_PROTOCOLS; }

 private:
  /// Statuses without a body, whatever the head says (RFC 9112, section 6.3).
  static bool bodiless(int status) {
    return status / 100 == 1 || status == HTTP_STATUS_NO_CONTENT || status == HTTP_STATUS_NOT_MODIFIED;
  }

  bool to_head_;
};

/// Reads the requests of a client.
class RequestReader : public Reader {
 public:
  explicit RequestReader(std::int64_t most) : Reader(HTTP_REQUEST, most) {}
  ~RequestReader() override = default;

  bool is(llhttp_method_t method) const { return parser().method == method; }
  const char* method() const { return llhttp_method_name(static_cast<llhttp_method_t>(parser().method)); }
  /// Whether the client waits for a word before it sends the body (Expect: 100-continue).
  /// Tells it once.
  bool take_expectation() { return std::exchange(expects_, false); }

 protected:
  void on_field(std::string_view part) override;
  void on_field_end() override;
  void on_value(std::string_view part) override;
  void on_value_end() override;
  bool on_head() override;

 private:
  static void add(std::string& to, std::string_view part);

  std::string field_;
  std::string value_;
  bool expecting_ = false;  // the field is Expect
  bool expected_ = false;   // and says 100-continue
  bool expects_ = false;
};

}  // namespace netdyno::http1
