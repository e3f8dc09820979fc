// The contract's messages as JSON: what the bench sends is read, what a worker answers is
// written. Only what speaks to the bench includes this: nlohmann/json takes a second of every
// source that does.
//
// Layer: above contract.h. Plain functions; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kit/contract.h"

namespace netdyno::contract {

using Json = nlohmann::json;

/// What an object of JSON gives for options, as yet unchecked. Throws Failure{setup} for what no option
/// takes, such as an array.
Options options_of(const Json& given);
Json json_of(const Options& options);

/// The body of a setup message. Ignores unknown fields. Throws Failure{invalid} for a
/// field of the wrong type, and Failure{setup} or {unsupported} for a level that does
/// not exist; each names the field. class Load checks the load's values.
Setup parse_setup(const Json& body);
/// The body of a mark message; throws Failure{invalid}.
Mark parse_mark(const Json& body);

/// Whole messages, to be written as one line each.
Json message(const Hello& hello);
Json message(const Ready& ready);
Json message(const Mark& mark, const Reading& reading);
Json message(const Result& result);
/// id is that of the mark that closed the window.
Json part_message(std::int64_t id, const Result& result);
Json tick_message(std::int64_t at_ns, const Counts& counts, const std::optional<TickTimes>& times);
/// sent is a client's, of a fatal error.
Json error_message(ErrorKind kind, const std::string& text, bool fatal,
                   const std::optional<Sent>& sent = std::nullopt);

}  // namespace netdyno::contract
