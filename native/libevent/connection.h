// One connection of either end: moves a flow's bytes by libevent, in one of two ways
// (option api):
//
//   event        an event says that the descriptor is ready; the connection then reads
//                into the flow's buffer and writes from it
//   bufferevent  libevent reads and writes by buffers of its own, as most programs use
//                it. Every message is copied once more each way, read 4 KiB at a time,
//                and written only in the next turn of the loop. Source: libevent
//                2.1.12, buffer.c, evbuffer_read; bufferevent_sock.c,
//                bufferevent_socket_outbuf_cb
//
// Layer: libevent worker, above base. Belongs to its loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "kit/flow.h"
#include "libevent/base.h"

namespace netdyno::libevent_worker {

class Connection;

/// A loop, as its connections see it.
class LoopObserver {
 public:
  /// The connection broke, or the peer closed it. It may be destroyed here.
  virtual void lost(Connection& connection) = 0;
  /// The flow threw, because the peer broke the wire's rules. The connection may be
  /// destroyed here.
  virtual void failed(Connection& connection, std::exception_ptr error) = 0;
  /// Bytes were received: the agenda may have changed.
  virtual void moved() = 0;
  /// The time to pass to a flow. A server's flow needs none, so its loop saves reading the
  /// clock.
  virtual std::int64_t now() const = 0;

 protected:
  ~LoopObserver() = default;
};

/// Never moves: libevent holds its address.
class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Begins the flow, and begins to read.
  void begin();
  /// The slot's next exchange is due, as the agenda says. Clients only.
  void send(std::uint32_t slot);
  /// Closes a lost connection of a client. The object stays, because the agenda refers to
  /// connections by number.
  void abandon();
  bool open() const { return open_; }

  std::size_t index = 0;  // among the observer's connections; for the observer to use

 protected:
  Connection(LoopObserver& observer, std::unique_ptr<Flow> flow)
      : observer_(observer), flow_(std::move(flow)) {}

  /// Writes what is unsent, as far as possible. False when the connection is lost, and
  /// perhaps destroyed.
  virtual bool flush() = 0;
  virtual void begin_reading() = 0;
  virtual void close() = 0;

  /// Calls work, and passes an exception to the observer: none may go through libevent's C
  /// code. Do not use this object afterwards, because the observer may destroy it.
  template <class Work>
  void guarded(Work work) {
    try {
      work();
    } catch (...) {
      observer_.failed(*this, std::current_exception());
    }
  }

  LoopObserver& observer_;
  std::unique_ptr<Flow> flow_;

 private:
  bool open_ = true;
};

enum class Api { event, bufferevent };

/// The level of option api.
Api parse_api(const std::string& level);

/// A connection on a connected, non-blocking socket.
std::unique_ptr<Connection> make_connection(Api api, const Base& base, Descriptor fd,
                                            std::unique_ptr<Flow> flow, LoopObserver& observer);

}  // namespace netdyno::libevent_worker
