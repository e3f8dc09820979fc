// What is expected of the bodies of replies, as the Go clients have it (internal/expect): all are
// the same, each has a match of a pattern or none, or a member of its JSON is as it must be.
//
// Layer: above options. Any thread may use it.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "http1/options.h"
#include "kit/system.h"

namespace netdyno::http1 {

class Bodies : Pinned {
 public:
  virtual ~Bodies() = default;

  /// Whether a body is as expected, in time that is linear in its length.
  virtual bool takes(std::string_view body) const = 0;
  /// What is wrong with a body that is not.
  virtual std::string explain(std::string_view body) const = 0;
  /// The same in a few words, equal for all bodies.
  virtual std::string reason() const = 0;
};

/// What a client's options expect; nullptr for anything. Throws Failure{setup} for a text that says
/// nothing, and Failure{unsupported} for what only the Go clients read.
std::unique_ptr<const Bodies> bodies_of(const Ask& ask);

/// Each body has a match of a pattern within its first MiB, or none. nullptr without RE2. Throws
/// Failure{setup} for a pattern that is wrong.
std::unique_ptr<const Bodies> matching(const std::string& pattern, bool lacks);

/// A text, cut off after so many characters.
std::string beginning(std::string_view text, std::size_t most);
/// The document, or discarded where it is no JSON, or nests deeper than Go reads it.
nlohmann::json parsed(std::string_view text);
/// A text of UTF-8 in quotes, as JSON has it.
std::string as_json(const std::string& text);

}  // namespace netdyno::http1
