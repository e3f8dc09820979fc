// Moves the bytes of one flow over one asio socket: direct writes, and at any
// time at most one read and one wait under way.
//
// Layer: asio worker. Belongs to its loop's thread. Never moves: handlers hold
// its address.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "asio/loop.h"
#include "kit/contract.h"
#include "kit/flow.h"

namespace netdyno::asio_worker {

/// Loop is told of what happens, without a virtual call:
///   static std::int64_t now();       the flow's instants
///   void moved();                    after a read and what followed from it
///   bool bears(const Failure&);      whether a flow's failure ends its connection alone
///   void closed(Connection&);        it was lost; once
///   void over(Connection&);          and no handler holds its address: it may be destroyed
template <class Loop>
class Connection {
 public:
  Connection(Loop& loop, std::size_t at, Socket socket, std::unique_ptr<Flow> flow)
      : place(at), loop_(loop), socket_(std::move(socket)), flow_(std::move(flow)) {}

  std::size_t place;  // in the loop's list; the loop's to change

  /// Begins the flow, writes what it has and begins to read.
  void begin() {
    flow_->begin(Loop::now());
    go_on();
  }

  /// A slot's time, kept by the agenda, has come.
  void send(std::uint32_t slot) {
    flow_->send(slot);
    flush();
  }

 private:
  /// Bytes that are written before the loop looks at others: a flow whose peer
  /// keeps pace would keep the loop for itself.
  static constexpr std::size_t kTurn = 1 << 20;

  bool open() const { return socket_.is_open(); }

  /// False when the connection was lost, and perhaps destroyed.
  bool go_on() {
    if (!flush()) return false;
    read();
    return true;
  }

  void read() {
    if (reading_) return;
    const auto room = flow_->room();
    if (room.empty()) return;  // what follows the next write reads
    reading_ = true;
    socket_.async_read_some(::asio::buffer(room.data(), room.size()),
                            [this](const std::error_code& error, std::size_t n) {
                              reading_ = false;
                              received(error, n);
                            });
  }

  void received(const std::error_code& error, std::size_t n) {
    if (error || !open()) return lose();
    try {
      flow_->received(n, Loop::now());
    } catch (const contract::Failure& failure) {
      if (!loop_.bears(failure)) throw;
      return lose();
    }
    if (go_on()) loop_.moved();
  }

  /// Writes until nothing is unsent, the kernel takes no more or the turn is
  /// over; false when the connection was lost, and perhaps destroyed.
  bool flush() {
    for (std::size_t turn = 0; !writing_ && flow_->unsent();) {
      if (turn >= kTurn) {
        await_writable();
        break;
      }
      const auto bytes = flow_->outgoing(Loop::now());
      std::error_code error;
      const std::size_t n = socket_.write_some(::asio::buffer(bytes.data(), bytes.size()), error);
      if (error == ::asio::error::would_block) {
        await_writable();
        break;
      }
      if (error) {
        lose();
        return false;
      }
      flow_->written(n);
      turn += n;
    }
    return true;
  }

  void await_writable() {
    writing_ = true;
    socket_.async_wait(Socket::wait_write, [this](const std::error_code& error) {
      writing_ = false;
      if (error || !open()) return lose();
      go_on();
    });
  }

  void lose() {
    if (open()) {
      std::error_code ignored;  // it is lost already
      socket_.close(ignored);
      flow_->abandon(contract::ErrorKind::peer, Loop::now());
      loop_.closed(*this);
    }
    if (!reading_ && !writing_) loop_.over(*this);
  }

  Loop& loop_;
  Socket socket_;
  std::unique_ptr<Flow> flow_;
  bool reading_ = false;
  bool writing_ = false;  // waits until the kernel takes more
};

}  // namespace netdyno::asio_worker
