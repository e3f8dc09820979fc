// The work of wire http/1.1 for the kit's loop ends. Layer: above client, verification,
// server.
#pragma once

#include <memory>
#include <string>

#include "kit/work.h"

namespace netdyno::http1 {

/// The wire's name.
inline constexpr char kHttp1[] = "http/1.1";

/// The description of a transport of this wire, with the options that all engines have.
contract::Transport transport(const std::string& name, const std::string& doc);

/// The parser's version, such as "8.1.0".
std::string parser_version();

/// Throws Failure{setup} for an exchange or an option that cannot be, Failure{unsupported}
/// for one that HTTP/1.1 does not carry. The setup's options are complete.
std::unique_ptr<const Work> work_of(const contract::Setup& setup);

}  // namespace netdyno::http1
