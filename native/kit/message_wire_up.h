// How the two ends of a message library's connection meet: the client's control socket
// and its greeting.
//
// Layer: above sockets. Plain functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kit/contract.h"
#include "kit/descriptor.h"

namespace netdyno {

/// What an end does with every exchange: a setup whose chunks are its messages. Where an
/// exchange does not stream, each direction is one message, or several of 64 MiB.
contract::Setup as_messages(const contract::Setup& setup);
/// The longest message of either direction, in bytes.
std::size_t longest_message(const contract::Setup& as_messages);

/// The client's own address on its way to the first peer. Throws Failure{setup} when no
/// way leads there.
std::string own_host(const contract::Setup& setup);

/// Connects the control socket of connection number and sends its greeting. Blocking,
/// with time-outs. Throws Failure{peer}, {timeout} or {setup}.
Descriptor dial_control(const contract::Setup& setup, std::int64_t number);

/// Prepares an accepted socket: blocking, with time-outs, and readable (poll(2)) no
/// earlier than a whole greeting is there.
void await_greeting(int control);
/// Reads the greeting of a socket that became readable, and returns the connection's
/// number. Throws Failure{peer} when the client is gone, and {invalid} when it says
/// anything else.
std::uint32_t read_greeting(int control);

}  // namespace netdyno
