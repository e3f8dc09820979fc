// What a client of any version of HTTP asks another's server for, and which replies it takes;
// texts as requests hold them and as errors show them.
//
// Layer: above options. Functions, and what is immutable after construction: any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http1/options.h"
#include "kit/address.h"
#include "kit/contract.h"
#include "kit/draw.h"
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
  std::int64_t expected = -1;  // bytes, where they are drawn; -1: as many as the trial says
  std::int32_t of_class = 0;
};

/// How the exchanges of a class are asked for; of a trial without classes, all of them.
struct Kind {
  std::string method;
  std::vector<std::string> pieces;  // of the path, between which a key stands; none: the client's own paths
  std::vector<std::pair<std::string, std::string>> headers;  // beside Host and those that frame the request
  int status = 0;                                            // that replies must have
  bool success = false;                                      // any status 2xx will do
  bool sized = false;                                        // the request says how long its body is
  bool repeatable = false;  // it does the same where it is sent twice (RFC 9110, section 9.2.2)

  bool takes(int found) const { return found == status || (success && found / 100 == 2); }
  bool bodiless() const { return method == "HEAD"; }
};

class Terms {
 public:
  /// Throws Failure{setup} for sizes or options that cannot be.
  explicit Terms(const contract::Setup& setup);

  /// How exchanges are asked for, by the number of their class.
  const Kind& kind(std::int32_t of_class) const { return kinds_[static_cast<std::size_t>(of_class)]; }
  /// The body of requests; of the largest, where sizes are drawn.
  const std::string& content() const { return content_; }
  /// Whether all requests of a route are the same.
  bool one_path() const { return ask_.paths.size() == 1; }
  /// What exchanges carry.
  const Draws& draws() const { return draws_; }
  /// What an exchange asks for; own is the path that its connection would at this turn.
  std::string path(const Draw& draw, std::string_view own) const;
  /// Bytes of the reply to an exchange.
  std::int64_t expected_of(const Draw& draw) const { return kind(draw.of_class).bodiless() ? 0 : draw.down; }

  bool takes(const Reply& reply) const {
    return kind(reply.of_class).takes(reply.status) && (any() || reply.bytes == expected(reply));
  }
  /// What is wrong with a reply that is not taken. phrase is what came beside its status, begin
  /// what its body begins with.
  std::string explain(const Reply& reply, const std::string& phrase, std::string_view begin) const;
  /// The same in short, as a reason of failed exchanges.
  std::string reason(const Reply& reply) const;
  /// What a first reply that is not taken is thrown as: Deferred where the server asks to come
  /// later and the request may, else a Failure.
  [[noreturn]] void refuse(const Reply& reply, const std::string& phrase, std::string_view begin) const;
  /// Compares a first reply's content, which is the expected one or not. Throws Failure{invalid}.
  void require_content(bool same) const;
  Work::Repeats repeats() const;

  /// Whether a reply may have any length.
  bool any() const { return ask_.verify == Verify::status; }
  /// What a first reply must consist of; empty where the content is not compared.
  std::string expected_content() const;
  std::int64_t down_bytes() const { return down_bytes_; }
  /// Bytes of a body after which a reply is given up.
  std::int64_t most_body() const;

 private:
  template <class Request>
  friend class Turns;

  Kind kind_of(const contract::Class& of) const;
  void complete(Kind& kind, bool content) const;
  void take_kinds(const contract::Setup& setup);
  std::int64_t expected(const Reply& reply) const {
    return reply.expected < 0 ? down_bytes_ : reply.expected;
  }

  Ask ask_;
  Draws draws_;
  std::int64_t down_bytes_;
  std::string content_;
  std::vector<Kind> kinds_;
};

/// The requests that connections make in turn. They begin evenly spread over the paths, so
/// that the middle of a long list is asked for too.
template <class Request>
class Turns {
 public:
  /// add appends the request for a path of a host.
  template <class Add>
  Turns(const contract::Setup& setup, const Terms& terms, Add add) : connections_(setup.load.connections) {
    for (const Route& route : routes(setup)) {
      std::deque<Request>& all = requests_.emplace_back();
      const std::string host = terms.ask_.host.empty() ? route.peer.text() : terms.ask_.host;
      for (const std::string& path : terms.ask_.paths) add(all, path, host);
      hosts_.push_back(host);
    }
    paths_ = terms.ask_.paths;
  }

  const Request& at(std::int64_t connection, std::size_t turn) const {
    return requests_[route(connection)][place(connection, turn)];
  }
  /// The host and the path of that request.
  const std::string& host(std::int64_t connection) const { return hosts_[route(connection)]; }
  const std::string& path(std::int64_t connection, std::size_t turn) const {
    return paths_[place(connection, turn)];
  }

 private:
  std::size_t route(std::int64_t connection) const {
    return static_cast<std::size_t>(connection) % requests_.size();
  }
  std::size_t place(std::int64_t connection, std::size_t turn) const {
    const std::size_t all = paths_.size();
    if (all == 1) return 0;
    return (static_cast<std::size_t>(connection * static_cast<std::int64_t>(all) / connections_) + turn) %
           all;
  }

  std::int64_t connections_;
  std::vector<std::deque<Request>> requests_;  // by route, then by path
  std::vector<std::string> hosts_;
  std::vector<std::string> paths_;
};

}  // namespace netdyno::http1
