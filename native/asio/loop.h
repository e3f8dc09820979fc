// Sockets and timers of both ends of the asio worker, for one io_context per thread.
// Layer: asio worker, bottom.
#pragma once

#include <asio.hpp>
#include <chrono>
#include <string>
#include <system_error>

namespace netdyno::asio_worker {

using Tcp = ::asio::ip::tcp;

// Sockets and timers that know their executor's type. asio's default ones erase it, which
// costs time in every operation.
using Socket = ::asio::basic_stream_socket<Tcp, ::asio::io_context::executor_type>;
using Acceptor = ::asio::basic_socket_acceptor<Tcp, ::asio::io_context::executor_type>;
using Timer =
    ::asio::basic_waitable_timer<std::chrono::steady_clock, ::asio::wait_traits<std::chrono::steady_clock>,
                                 ::asio::io_context::executor_type>;

/// A loop's context, without locks: only the loop's thread uses it and what belongs to it,
/// once it runs. Another thread reaches the loop by a Waker. In a process of several
/// threads asio's locks cost a server 140 of the 985 instructions of an echo of 100 B.
constexpr int kUnlocked = ASIO_CONCURRENCY_HINT_UNSAFE;

/// Wakes a loop from another thread, by an eventfd. The loop keeps the reason in its own
/// fields. Several calls of wake may cause only one wake-up.
class Waker {
 public:
  /// Throws Failure{setup}.
  explicit Waker(::asio::io_context& context);
  /// Any thread; does not block.
  void wake();
  /// Calls woken on the loop's thread after each wake, also one that came before. Keeps the
  /// loop running until it is stopped.
  template <class Woken>
  void arm(Woken woken) {
    event_.async_wait(Event::wait_read, [this, woken](const std::error_code& error) {
      if (error) return;
      clear();
      woken();
      arm(woken);
    });
  }

 private:
  using Event = ::asio::posix::basic_stream_descriptor<::asio::io_context::executor_type>;
  void clear();

  Event event_;
};

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
