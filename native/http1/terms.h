// What a client of any version of HTTP asks another's server for, and which replies it takes;
// texts as requests hold them and as errors show them.
//
// Layer: above options. Functions, and what is immutable after construction: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http1/bodies.h"
#include "http1/options.h"
#include "kit/contract.h"
#include "kit/work.h"

namespace netdyno::http1 {

/// The text without space at its ends.
std::string_view trimmed(std::string_view text);

/// Whether two names of headers are the same: their case does not count.
bool same_header(std::string_view a, std::string_view b);

/// Removes the next line from a text and returns it, trimmed.
std::string_view next_line(std::string_view& text);

/// A line of a text with headers, "Name: value". It may hold a password.
struct HeaderLine {
  std::string_view name;
  std::string_view value;
  bool whole;  // it has a colon
};
/// Those of a text, empty ones left out. The text outlives them.
std::vector<HeaderLine> header_lines(std::string_view text);
/// How many of them a user may give.
inline constexpr std::size_t kMostHeaders = 1000;

/// Whether it may be the name of a header, or a method (RFC 9110, section 5.6.2).
bool is_token(std::string_view text);
/// Whether it may be the value of a header (RFC 9110, section 5.5).
bool is_value(std::string_view text);
/// Whether it may be the host, with or without a port, that a request is for.
bool is_host(std::string_view text);

/// The usual phrase of a status; empty for one that has none.
std::string_view phrase_of(int status);
/// A status with its usual phrase: "429 Too Many Requests". Without one where there is none.
std::string status_text(int status);

/// The text in quotes, cut off after most bytes, without bytes that would not print.
std::string shown(std::string_view text, std::size_t most);

/// How much of a body is kept to explain a status, in bytes.
inline constexpr std::size_t kMostReason = 200;
/// How far a wrong body is read, so that its connection can be used again, in bytes.
inline constexpr std::int64_t kWrongRead = 256 << 10;

/// Throws Failure{setup} for sizes of an exchange that no end carries.
void check_sizes(const contract::Setup& setup);

/// The content that ends of netdyno send: up by 'u', down by 'd'.
std::string content_of(std::int64_t bytes, char direction);

/// Bytes that one read of a connection takes at most, where so many replies of that size, with
/// their heads, may be on their way; any: of any size.
std::size_t read_size_for(std::int64_t reply, std::size_t in_flight, bool any);

/// What a client is told of a reply, once it is complete.
struct Reply {
  int status = 0;
  std::int64_t bytes = 0;
  std::string_view body = {};  // where terms read it
};

/// How the exchanges of a trial are asked for, and which replies are taken.
class Terms {
 public:
  /// Throws Failure{setup} for sizes or options that cannot be.
  explicit Terms(const contract::Setup& setup) : Terms(setup, ask_of(setup), setup.exchange) {}
  /// Those of each class of a load.
  static std::vector<Terms> each(const contract::Setup& setup);

  const std::string& method() const { return ask_.method; }
  const std::string& path() const { return ask_.path; }
  /// The server that a proxy is to reach; empty where the peer is the server.
  const std::string& proxied() const { return ask_.proxied; }
  /// What stands before the path in the first line, where a proxy reads that; empty where none does.
  const std::string& origin() const { return origin_; }
  /// Beside Host and those that frame the request.
  const std::vector<std::pair<std::string, std::string>>& headers() const { return ask_.headers; }
  /// The host that requests of each route are for.
  std::vector<std::string> hosts(const contract::Setup& setup) const;
  /// The body of requests.
  const std::string& content() const { return content_; }
  /// Whether a request says how long its body is.
  bool sized() const { return sized_; }
  /// Whether a request does the same where it is sent twice (RFC 9110, section 9.2.2).
  bool repeatable() const { return repeatable_; }
  /// Whether replies have no body.
  bool bodiless() const { return ask_.method == "HEAD"; }

  bool takes_status(int status) const { return status == ask_.status || (ask_.success && status / 100 == 2); }
  bool takes(const Reply& reply) const {
    return takes_status(reply.status) && (any() || reply.bytes == down_bytes_) &&
           (bodies_ == nullptr || bodies_->takes(reply.body));
  }
  /// What is wrong with a reply that is not taken. phrase is what came beside its status, begin
  /// what its body begins with.
  std::string explain(const Reply& reply, const std::string& phrase, std::string_view begin) const;
  /// The same in short, as a reason of failed exchanges.
  std::string reason(const Reply& reply) const;
  /// What a first reply that is not taken is thrown as: Deferred where the server asks to come
  /// later and the request may, else a Failure.
  /// asked says which request it was, or nothing.
  [[noreturn]] void refuse(const Reply& reply, const std::string& phrase, std::string_view begin,
                           const std::string& asked = "") const;
  /// Compares a first reply's content, which is the expected one or not. Throws Failure{invalid}.
  void require_content(bool same) const;
  Work::Repeats repeats() const;

  /// Whether a reply may have any length.
  bool any() const { return ask_.verify != Verify::content && ask_.verify != Verify::length; }
  /// Whether what replies consist of is compared.
  bool reads_bodies() const { return bodies_ != nullptr; }
  /// What a first reply must consist of; empty where the content is not compared.
  std::string expected_content() const;
  std::int64_t down_bytes() const { return down_bytes_; }
  /// Bytes of a body after which a reply is given up.
  std::int64_t most_body() const;

 private:
  Terms(const contract::Setup& setup, Ask ask, const contract::Exchange& sizes);

  Ask ask_;
  std::unique_ptr<const Bodies> bodies_;  // nullptr: any
  std::int64_t down_bytes_;               // of a reply
  std::string content_;
  std::string origin_;
  bool sized_;
  bool repeatable_;
};

}  // namespace netdyno::http1
