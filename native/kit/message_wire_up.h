// How the two ends of a message library's connection meet: the client's control socket
// and its greeting.
//
// Layer: above sockets. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kit/contract.h"
#include "kit/descriptor.h"

namespace netdyno {

/// What an end does with every exchange: a setup whose chunks are its messages. Where an
/// exchange does not stream, each direction is one message.
contract::Setup as_messages(const contract::Setup& setup);
/// The longest message of either direction, in bytes.
std::size_t longest_message(const contract::Setup& as_messages);

/// Connects the control socket of connection number and sends its greeting. Blocking,
/// with time-outs. Throws Failure{peer}, {timeout} or {setup}.
Descriptor dial_control(const contract::Setup& setup, std::int64_t number);

/// Takes an accepted socket: makes it blocking, with time-outs, and reads the greeting.
/// Returns the connection's number. Throws Failure{invalid} for anything else, and
/// {timeout} when nothing comes within 1 s.
std::uint32_t greet(int control);

}  // namespace netdyno
