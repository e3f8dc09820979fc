// What the ends of one trial send and expect on wire http/1.1 (docs/wires.md): the bytes of one
// message as they go out, and how those that come are read, by llhttp.
//
// Layer: above terms. A reader: one thread; the rest is immutable after construction.
#pragma once

#include <llhttp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http1/events.h"
#include "http1/kinds.h"
#include "http1/rows.h"
#include "kit/contract.h"
#include "kit/system.h"

namespace netdyno::http1 {

/// Splits the bytes of one connection into messages of HTTP/1.1 by llhttp, whatever pieces they
/// arrive in. Bodies are handed on where they were read and kept nowhere, so memory does not grow
/// with what a peer sends. It never moves: the parser holds its address.
class Reader : Pinned {
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

  /// Takes bytes up to the end of the message. After any outcome but more, call next
  /// before the next message; after the last three the connection cannot be followed.
  Outcome read(std::span<const char> bytes);
  /// How many bytes of the last read belong to the message. Only after complete.
  std::size_t taken() const { return taken_; }
  /// The connection ended. Complete if that ends the message, malformed if it cuts one off.
  Outcome finish();
  /// Prepares for the next message.
  virtual void next();

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
  /// Bodies are told apart into events of that kind.
  ReplyReader(std::int64_t most, EventKind kind) : Reader(HTTP_RESPONSE, most), events_(kind) {}
  ~ReplyReader() override = default;

  /// Whether replies from now on have no body, as one to HEAD.
  void to_head(bool head) { to_head_ = head; }
  /// Whether bodies are kept from now on.
  void keep(bool body) { keeps_body_ = body; }

  int status() const { return parser().status_code; }
  /// The body so far, where it is kept, until the next reply begins.
  std::string_view text() const { return text_; }
  /// The events of the body so far, where they are told apart.
  EventSplitter& events() { return events_; }
  void next() override {
    Reader::next();
    if (events_.splits()) events_.next();
  }

 protected:
  bool on_head() override {
    text_.clear();
    return to_head_ || bodiless(status());
  }
  void on_body(std::string_view part) override {
    if (keeps_body_) text_.append(part);
    if (events_.splits()) events_.take(part);
  }
  bool on_end() override {
    if (events_.splits()) events_.end();
    return status() / 100 != 1 || status() == HTTP_STATUS_SWITCHING_PROTOCOLS;
  }

 private:
  /// Statuses without a body, whatever the head says (RFC 9112, section 6.3).
  static bool bodiless(int status) {
    return status / 100 == 1 || status == HTTP_STATUS_NO_CONTENT || status == HTTP_STATUS_NOT_MODIFIED;
  }

  bool to_head_ = false;
  bool keeps_body_ = false;
  std::string text_;
  EventSplitter events_;
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

/// What the ends of one trial send and expect on wire http/1.1 (docs/wires.md).
///
/// Immutable after construction: any thread may use it.
class Message {
 public:
  /// Contents up to this size are copied behind their head, so that both go out in one
  /// write. A longer one is written from where it is.
  static constexpr std::size_t kGathered = 1 << 20;

  /// content outlives the message unless gathered says that it is copied.
  Message(std::string head, std::string_view content, bool gathered) : first_(std::move(head)) {
    if (gathered) {
      first_.append(content);
    } else {
      rest_ = content;
    }
  }

  std::size_t size() const { return first_.size() + rest_.size(); }
  /// The bytes from at on that are in one piece. Only while at < size().
  std::span<const char> from(std::size_t at) const {
    if (at < first_.size()) return std::span<const char>(first_).subspan(at);
    return std::span<const char>(rest_).subspan(at - first_.size());
  }

 private:
  std::string first_;
  std::string_view rest_;
};

/// A request as it goes out: one that is kept for all exchanges of its kind, or one that is made.
class Request {
 public:
  std::size_t size() const { return kept_ != nullptr ? kept_->size() : made_.size(); }
  /// As Message's.
  std::span<const char> from(std::size_t at) const {
    return kept_ != nullptr ? kept_->from(at) : std::span<const char>(made_).subspan(at);
  }
  const Terms& terms() const { return *terms_; }

 private:
  friend class Asking;
  const Message* kept_ = nullptr;
  const Terms* terms_ = nullptr;
  std::string made_;
};

/// The client's part.
class Asking {
 public:
  /// Throws Failure: setup for sizes or options that cannot be, unsupported for exchanges
  /// that HTTP/1.1 does not carry.
  explicit Asking(const contract::Setup& setup);

  const Kinds& kinds() const { return kinds_; }
  /// Those of all exchanges; of classes those of the largest sizes.
  const Terms& terms() const { return kinds_.common(); }
  const contract::Load& load() const { return load_; }
  bool fresh() const { return load_.fresh; }
  /// How replies are followed, where the setup asks for events.
  const Following& following() const { return following_; }
  /// The shortest time after which something of an exchange ends; kNoLimit where nothing does.
  std::int64_t shortest_limit() const {
    const std::int64_t least = load_.shortest_limit();
    return following_.lasts_ns > 0 ? std::min(least, following_.lasts_ns) : least;
  }

  /// Whether all requests of a connection are the same.
  bool alike() const { return rows_ == nullptr && kinds_.alike(); }
  /// Sets the request of an exchange. Returns how many bytes more its body has than setup says, where
  /// it is filled with a row of its own.
  std::int64_t prepare(Request& request, const Turn& turn) const;
  /// Bytes that one read of a connection takes at most.
  std::size_t read_size() const;

 private:
  /// A class's requests by one route, or those of all exchanges.
  struct Kept {
    std::optional<Message> whole;
    std::string before, after;  // of the path, where that differs
  };

  static std::string head(const Terms& terms, const std::string& host);
  const char* end() const;
  Kept kept(std::size_t of, const std::string& host) const;
  void fill_with(const contract::Setup& setup, const std::string& data);
  std::int64_t fill(std::string& request, const Turn& turn) const;

  Kinds kinds_;
  contract::Load load_;
  Following following_;
  std::vector<std::vector<Kept>> requests_;  // by class and route; none where each is filled

  // Where each is filled.
  std::int64_t up_bytes_;
  std::uint64_t connections_;
  std::uint64_t active_;
  std::unique_ptr<const Rows> rows_;
  std::optional<Source> source_;
  std::vector<Template> heads_;  // by route, without what frames the body
  std::optional<Template> body_;
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

  /// Sizes of an exchange.
  std::int64_t up_bytes() const { return up_bytes_; }
  std::int64_t down_bytes() const { return down_bytes_; }
  /// Where the part of a right reply ends that begins at or before at: of one that is streamed each
  /// message of its body leaves by itself.
  std::size_t part_end(const Message& right, std::size_t at) const;
  /// From one such part to the next, in ns; 0 for at once.
  std::int64_t every_ns() const { return every_ns_; }
  /// Bytes of a body after which a request is refused unread.
  std::int64_t most_body() const;

 private:
  void cut(std::size_t bytes);

  std::int64_t up_bytes_;
  std::int64_t down_bytes_;
  std::int64_t every_ns_;
  std::string content_;       // in chunks, where replies are streamed
  std::size_t messages_ = 1;  // of a reply
  std::size_t framed_ = 0;    // bytes of one that is not the last
  std::optional<Message> right_;
  std::optional<Message> last_;
  std::optional<Message> not_allowed_;
  std::optional<Message> not_allowed_head_;
  std::optional<Message> proceed_;
};

}  // namespace netdyno::http1
