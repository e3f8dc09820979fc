// Lists of paths that a client asks for in turn: one a line; blank lines, and lines that
// begin with #, are skipped. Go counterpart: internal/paths.
//
// Layer: bottom of http1. Plain functions; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace netdyno::http1 {

/// What is wrong with a path that is to stand in the first line of a request: "\"x\" is not
/// a path; …". Empty for one that may.
std::string wrong_path(std::string_view path);

/// The paths of a text in order. Throws Failure{setup} that names the file and the line.
std::vector<std::string> parse_paths(const std::string& name, std::string_view text);

/// The paths of a file. Throws Failure{setup}: for one that is not a regular file, too.
std::vector<std::string> read_paths(const std::string& name);

}  // namespace netdyno::http1
