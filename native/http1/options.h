// The options of wire http/1.1, and what a user's change in the requests of a client. The Go clients
// have the same, and more: internal/work/wire/httpwire/ask.go.
//
// Layer: bottom of http1. Plain values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kit/contract.h"

namespace netdyno::http1 {

/// The options that both ends have on every engine, those of sockets included.
std::vector<contract::Option> options();

/// What a client compares in replies: in the first one alone, or in the bodies of all.
enum class Verify { content, length, status, body, regexp, not_regexp, json };
/// The level of option verify.
Verify verify_of(const contract::Options& options);

/// What a client asks for, and what its replies must have.
struct Ask {
  std::string method;                                        // empty: by the content
  std::vector<std::pair<std::string, std::string>> headers;  // in the order given, without Host
  std::string host;                                          // empty: the server's address
  std::string body;                                          // empty: the trial's own content
  std::string path;
  int status = 200;
  bool success = false;  // any other status 2xx will do, too
  Verify verify = Verify::content;
  std::string expected;  // of bodies
  std::string proxied;   // the server where the peer is an HTTP proxy; empty where it is none
  std::string proxy_authorization;
};

/// Reads a client's options. Throws Failure{setup} that names the option.
Ask ask_of(const contract::Setup& setup);
/// What it asks for by each class of the load, in their order; none without classes.
std::vector<Ask> class_asks(const contract::Setup& setup);
/// What it asks for in turn in place of its path; none without option paths.
std::vector<std::string> paths_of(const contract::Setup& setup);

/// What is wrong with a path that is to stand in the first line of a request: "\"x\" is not
/// a path; …". Empty for one that may.
std::string wrong_path(std::string_view path);

}  // namespace netdyno::http1
