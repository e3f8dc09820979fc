// A transport's options: their description, the check of given values against it,
// defaults, and files that they name. Layer: above contract. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kit/contract.h"

namespace netdyno {

/// An option with the levels of a choice. The first is the default.
contract::Option choice_option(const std::string& name, const std::vector<std::string>& choices,
                               const std::string& doc);
/// An option that is true or false.
contract::Option boolean_option(const std::string& name, bool fallback, const std::string& doc);

/// A number's default and bounds.
struct Range {
  std::int64_t fallback;
  std::int64_t min;
  std::int64_t max;
};
/// An option that is a whole number.
contract::Option integer_option(const std::string& name, const Range& range, const std::string& doc);
/// An option that is a number of bytes.
contract::Option bytes_option(const std::string& name, const Range& range, const std::string& doc);

/// An option that is a span of time, in ns.
contract::Option duration_option(const std::string& name, const Range& range, const std::string& doc);

/// An option that is a text of at most 64 KiB, for instance a device's name.
contract::Option text_option(const std::string& name, const std::string& fallback, const std::string& doc);

/// A text option that may also name a file of at most so many bytes, as @FILE: see
/// given_text.
contract::Option given_option(const std::string& name, const std::string& fallback, std::int64_t file_max,
                              const std::string& doc);

/// The value of such an option: of "@FILE" what the regular file holds, of "@@TEXT" the text
/// with one @, any other as it is. Throws Failure{setup} that names option and file.
std::string given_text(const contract::Options& options, const std::string& name, std::int64_t file_max);

/// The option with the values that a race tries, as a study writes them ("128KiB"), and
/// how each role sets it outside of netdyno, with {value} in the place of the value.
contract::Option raced(contract::Option option, const std::vector<std::string>& grid,
                       const std::vector<std::pair<contract::Role, std::string>>& as = {});

/// The option, restricted to one role.
contract::Option only(contract::Role role, contract::Option option);

/// The options of a transport in a role: given ones and defaults. Throws Failure{setup}
/// for an unknown name (with the nearest one) or a value out of range.
contract::Options complete_options(const contract::Transport& transport, contract::Role role,
                                   const contract::Options& given);

/// The setup's transport. Throws Failure{unsupported} when there is none of that name,
/// or it lacks the setup's role or a feature that the setup needs.
const contract::Transport& find_transport(const std::vector<contract::Transport>& transports,
                                          const contract::Setup& setup);

/// Reads a regular file of at most that many bytes. Throws Failure{setup} that begins with
/// what, such as "option paths", and names the file.
std::string read_file(const std::string& what, const std::string& name, std::size_t most);

}  // namespace netdyno
