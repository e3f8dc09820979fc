// A transport's options: described, checked against that description, defaults
// filled in.
// Layer: above contract. Plain functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kit/contract.h"

namespace netdyno {

/// An option with the levels of a choice; the first is the default.
contract::Option choice_option(const std::string& name, const std::vector<std::string>& choices,
                               const std::string& doc);
/// An option that is true or false.
contract::Option boolean_option(const std::string& name, bool fallback, const std::string& doc);

/// The default of a number, and its bounds.
struct Range {
  std::int64_t fallback;
  std::int64_t min;
  std::int64_t max;
};
/// An option that is a whole number.
contract::Option integer_option(const std::string& name, const Range& range, const std::string& doc);
/// An option that is a number of bytes.
contract::Option bytes_option(const std::string& name, const Range& range, const std::string& doc);

/// The option, for one role alone.
contract::Option only(contract::Role role, contract::Option option);

/// The effective options of a transport in a role. Throws Failure{setup} for an
/// unknown name (with the nearest one) or a value out of its range.
contract::Json complete_options(const contract::Transport& transport, contract::Role role,
                                const contract::Json& given);

/// The transport of that name that plays the role and has every feature that the
/// setup asks for, or Failure{unsupported}.
const contract::Transport& find_transport(const std::vector<contract::Transport>& transports,
                                          const contract::Setup& setup);

}  // namespace netdyno
