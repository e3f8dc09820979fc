// Sockets and timers of both ends of the asio worker, for one io_context per thread.
// Layer: asio worker, bottom.
#pragma once

#include <asio.hpp>
#include <chrono>
#include <string>

namespace netdyno::asio_worker {

using Tcp = ::asio::ip::tcp;

// Sockets and timers that know their executor's type. asio's default ones erase it, which
// costs time in every operation.
using Socket = ::asio::basic_stream_socket<Tcp, ::asio::io_context::executor_type>;
using Acceptor = ::asio::basic_socket_acceptor<Tcp, ::asio::io_context::executor_type>;
using Timer =
    ::asio::basic_waitable_timer<std::chrono::steady_clock, ::asio::wait_traits<std::chrono::steady_clock>,
                                 ::asio::io_context::executor_type>;

/// asio's version, such as "1.22.1".
std::string version();

/// The protocol of a socket, which asio asks for when it takes one over.
Tcp protocol_of(int fd);

/// Takes over a non-blocking socket, connected or connecting. A negative descriptor is a
/// closed one.
Socket take_over(::asio::io_context& context, int fd);
/// The same for a closed socket.
void take_over(Socket& socket, int fd);

}  // namespace netdyno::asio_worker
