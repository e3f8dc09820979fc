// Why a library call or a work request failed, in words that say what to do.
//
// Layer: above the kit's contract. Any thread.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

namespace netdyno::verbs {

/// Why a request did not complete. "retry exceeded: …"
std::string reason_of(const ibv_wc& completion);

/// Why memory could not be registered: code is errno, bytes how much was asked for,
/// held how much is registered already, limit RLIMIT_MEMLOCK in bytes.
struct Refused {
  int code = 0;
  std::uint64_t bytes = 0;
  std::uint64_t held = 0;
  std::uint64_t limit = 0;
};
std::string reason_of(const Refused& refused);

/// Why this host has no device to open: what was looked at, and what was missing.
/// root is "/", or a copy of another host's files.
std::string why_no_device(const std::string& root);

}  // namespace netdyno::verbs
