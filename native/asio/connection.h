// One connection of the asio worker, and the sockets and timers of both ends, for one io_context
// per thread.
//
// Layer: asio worker, bottom.
#pragma once

#include <asio.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "kit/agenda.h"
#include "kit/contract.h"
#include "kit/flow.h"
#include "kit/system.h"

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

/// The protocol of a socket, which asio asks for when it takes one over.
Tcp protocol_of(int fd);

/// Takes over a non-blocking socket, connected or connecting. A negative descriptor is a
/// closed one.
Socket take_over(::asio::io_context& context, int fd);
/// The same for a closed socket.
void take_over(Socket& socket, int fd);

/// Loop observes its connections without virtual calls. It has
///   static constexpr bool kRedials;  whether a connection that is over is made again
///   Descriptor redial(Connection&);  a socket that is connecting, if so
///   void made(Connection&);          called when that connection is there
///   static std::int64_t now();       the time to pass to flows
///   void moved();                    called after a read or a write was handled
///   bool tolerates(const Failure&);  whether a flow's failure ends only its connection
///   void closed(Connection&);        called once, when the connection is lost
///   void released(Connection&);      called when no handler holds its address any more: it
///                                    may be destroyed
template <class Loop>
class Connection {
 public:
  Connection(Loop& loop, Socket socket, std::unique_ptr<Flow> flow)
      : loop_(loop), socket_(std::move(socket)), flow_(std::move(flow)) {
    flow_->belong(this);
  }

  std::size_t index = 0;  // in the loop's list; only the loop changes it

  /// Begins the flow, writes its bytes and begins to read.
  void begin() {
    const std::int64_t at = Loop::now();
    flow_->begin(at);
    open() ? go_on(at) : renew();
  }

  /// The slot's next exchange is due, as the agenda says.
  void send(std::uint32_t slot) {
    flow_->send(slot);
    open() ? go_on(Loop::now()) : renew();
  }

  /// The flow has rested.
  void rested() {
    if (open()) go_on(Loop::now());
  }

 private:
  /// Bytes that one connection writes before the loop serves others. A flow whose peer
  /// reads as fast as it writes would otherwise occupy the loop.
  static constexpr std::size_t kTurn = 1 << 20;

  bool open() const { return socket_.is_open(); }

  /// This and the following return false when the connection was perhaps destroyed.
  bool go_on(std::int64_t at) {
    if (leaving()) return conclude();
    if (!flush(at)) return false;
    if (!open()) return true;
    if (leaving()) return conclude();
    read();
    return true;
  }

  /// Whether the flow ends the connection now. A server's last reply is written first.
  bool leaving() const {
    const Flow::Fate fate = flow_->fate();
    if (fate == Flow::Fate::over) return Loop::kRedials || !flow_->unsent();
    return fate == Flow::Fate::lost;
  }

  bool conclude() {
    if (flow_->fate() == Flow::Fate::lost || !Loop::kRedials) return lose();
    close();
    return renew();
  }

  /// Makes a client's connection that is over again, once bytes are to be sent and no
  /// handler of the old socket is left.
  bool renew() {
    if (lost_ || reading_ || writing_ || !flow_->unsent()) return true;
    flow_->reopened(Loop::now());
    Descriptor socket = loop_.redial(*this);
    if (socket.get() < 0) return lose();
    take_over(socket_, socket.release());
    made_ = false;
    return go_on(Loop::now());
  }

  void read() {
    if (reading_) return;
    const auto buffer = flow_->read_buffer();
    if (buffer.empty()) return;  // the next write continues reading
    reading_ = true;
    socket_.async_read_some(::asio::buffer(buffer.data(), buffer.size()),
                            [this](const std::error_code& error, std::size_t n) {
                              reading_ = false;
                              received(error, n);
                            });
  }

  void received(const std::error_code& error, std::size_t n) {
    if (!open()) return left();
    if (error) {
      if (broke(error)) loop_.moved();
      return;
    }
    const std::int64_t at = Loop::now();
    try {
      flow_->received(n, at);
    } catch (const contract::Failure& failure) {
      if (!loop_.tolerates(failure)) throw;
      lose();
      return;
    }
    if (go_on(at)) loop_.moved();
  }

  /// Writes until nothing is left, the kernel takes no more or the turn is over. What follows
  /// a reply at once is sent at the instant at which that came.
  bool flush(std::int64_t at) {
    for (std::size_t turn = 0; !writing_ && flow_->unsent();) {
      if (turn >= kTurn) {
        await_writable();
        break;
      }
      const auto bytes = flow_->outgoing(at);
      if (bytes.empty()) break;
      std::error_code error;
      const std::size_t n = socket_.write_some(::asio::buffer(bytes.data(), bytes.size()), error);
      if (error == ::asio::error::would_block) {
        await_writable();
        break;
      }
      if (error) return broke(error);
      if (!std::exchange(made_, true)) [[unlikely]] {
        loop_.made(*this);
        flow_->made();
      }
      flow_->written(n);
      turn += n;
      if (Loop::kRedials && leaving()) break;  // with these bytes it was over
      if (flow_->unsent()) at = Loop::now();
    }
    return true;
  }

  void await_writable() {
    writing_ = true;
    socket_.async_wait(Socket::wait_write, [this](const std::error_code& error) {
      writing_ = false;
      if (!open()) return left();
      if (error) {
        broke(error);
        return;
      }
      if (go_on(Loop::now())) loop_.moved();
    });
  }

  /// The peer ended or broke the connection.
  bool broke(const std::error_code& error) {
    flow_->broke(error == ::asio::error::eof ? 0 : error.value());
    if (!flow_->ended(Loop::now())) return lose();
    return conclude();
  }

  /// A handler of a socket that was closed meanwhile has come back.
  void left() {
    if (lost_) {
      release();
    } else {
      renew();
    }
  }

  void close() {
    std::error_code ignored;  // it is lost already
    socket_.close(ignored);
  }

  bool lose() {
    if (!lost_) {
      lost_ = true;
      close();
      flow_->abandon(contract::ErrorKind::peer, Loop::now());
      loop_.closed(*this);
    }
    return release();
  }

  bool release() {
    if (!reading_ && !writing_) loop_.released(*this);
    return false;
  }

  Loop& loop_;
  Socket socket_;
  std::unique_ptr<Flow> flow_;
  bool reading_ = false;
  bool writing_ = false;  // waits until the kernel takes more
  bool made_ = true;      // false from making the connection anew until bytes went out
  bool lost_ = false;
};

}  // namespace netdyno::asio_worker
