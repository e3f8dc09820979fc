// What both ends of the asio worker build on: sockets and timers of one
// io_context per thread. Layer: asio worker, bottom.
#pragma once

#include <asio.hpp>
#include <chrono>
#include <string>

namespace netdyno::asio_worker {

using Tcp = ::asio::ip::tcp;

// Sockets and timers that know their executor's type: asio's default ones erase
// it, and pay for that in every operation.
using Socket = ::asio::basic_stream_socket<Tcp, ::asio::io_context::executor_type>;
using Acceptor = ::asio::basic_socket_acceptor<Tcp, ::asio::io_context::executor_type>;
using Timer =
    ::asio::basic_waitable_timer<std::chrono::steady_clock, ::asio::wait_traits<std::chrono::steady_clock>,
                                 ::asio::io_context::executor_type>;

/// asio's own: "1.22.1".
std::string version();

/// The protocol that asio wants to hear of a socket that it takes over.
Tcp protocol_of(int fd);

/// Takes over a connected, non-blocking socket.
Socket take_over(::asio::io_context& context, int fd);

}  // namespace netdyno::asio_worker
