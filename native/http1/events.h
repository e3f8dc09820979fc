// Where the events of a reply end that comes in parts: server-sent events, lines, or parts as they come; and
// the options that say how a client follows its replies. Go counterparts: internal/events,
// internal/work/wire/httpwire/follow.go.
//
// Layer: above options. One thread uses a splitter; the rest are plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"

namespace netdyno::http1 {

/// How events are told apart: the levels of option events, in their order.
enum class EventKind {
  sized,   // by the length of a message of netdyno's own streams
  sse,     // server-sent events with data (WHATWG HTML, section 9.2.6)
  chat,    // those of an OpenAI-compatible endpoint that hold text
  lines,   // lines that are not empty, such as NDJSON
  chunks,  // whatever comes at once
};

/// How a client follows its replies.
struct Following {
  EventKind kind = EventKind::sized;
  std::int64_t most = 0;      // events after which a reply is ended; 0 for all
  std::int64_t lasts_ns = 0;  // after which it is; 0 for ever

  /// Whether the client tells the events of replies apart.
  bool splits() const { return kind != EventKind::sized; }
};

/// The options of a client that follows its replies.
std::vector<contract::Option> event_options();
/// What they say; nothing where setup asks for no events. Throws Failure{unsupported} for bounds of messages
/// of netdyno's own streams.
Following following_of(const contract::Setup& setup);

/// Follows one reply after the other. It keeps no content but that of one event of a chat, of 1 MiB at most.
class EventSplitter {
 public:
  explicit EventSplitter(EventKind kind) : kind_(kind) {}

  /// Whether it is to be told what comes.
  bool splits() const { return kind_ != EventKind::sized; }
  /// Expects another reply.
  void next();
  /// Takes the next part of the reply. Events of what follows an error are not told.
  void take(std::string_view part);
  /// The reply is complete: a last line without an end is an event, a server-sent event without an empty
  /// line is not.
  void end();
  /// How many events ended since the last call; with a bound only so many of a reply.
  std::int64_t ended(std::int64_t most);
  /// How many were told of the reply.
  std::int64_t told() const { return told_; }
  /// Why the reply cannot be gone on with, printable; empty where it can.
  const std::string& wrong() const { return wrong_; }

 private:
  void take_line(std::string_view part);
  void end_line();
  bool says();

  EventKind kind_;
  std::array<char, 5> named_{};  // what the line begins with
  std::size_t line_ = 0;         // bytes of the line that came
  bool cr_ = false;              // the part before ended with a carriage return
  bool data_ = false;            // the event has data
  std::string text_;             // of a chat: the data
  std::int64_t ended_ = 0;       // and not told
  std::int64_t told_ = 0;
  std::string wrong_;
};

}  // namespace netdyno::http1
