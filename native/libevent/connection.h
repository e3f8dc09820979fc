// One connection of either end: moves a flow's bytes by libevent. Two ways to
// do so (option api):
//
//   event        an event tells that the descriptor is ready; the connection
//                reads and writes itself, right into and out of the flow
//   bufferevent  libevent reads and writes, into and out of buffers of its own:
//                every message is copied once more each way, read 4 KiB at a
//                time and written only in the next turn of the loop. What most
//                programs use. Source: libevent 2.1.12, buffer.c, evbuffer_read;
//                bufferevent_sock.c, bufferevent_socket_outbuf_cb
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

/// The loop whose connections these are.
class Keeper {
 public:
  /// The connection broke, or the peer closed it. It may be destroyed here.
  virtual void lost(Connection& connection) = 0;
  /// The flow threw: the peer sent what it must not. It may be destroyed here.
  virtual void failed(Connection& connection, std::exception_ptr error) = 0;
  /// Bytes were received: the agenda may have changed.
  virtual void moved() = 0;
  /// The time to tell a flow: a server's takes none, and reading the clock costs.
  virtual std::int64_t now() const = 0;

 protected:
  ~Keeper() = default;
};

/// Never moves: libevent holds its address.
class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Takes up the flow's work and begins to read.
  void begin();
  /// The slot's time, kept by the agenda, has come. Clients only.
  void send(std::uint32_t slot);
  /// Gives up a lost connection, as a client does: it stays, closed, since the
  /// agenda knows connections by number.
  void abandon();
  bool open() const { return open_; }

  std::size_t place = 0;  // among the keeper's; its own to use

 protected:
  Connection(Keeper& keeper, std::unique_ptr<Flow> flow) : keeper_(keeper), flow_(std::move(flow)) {}

  /// Hands out what is unsent as far as that goes; false when the connection is
  /// lost, and perhaps destroyed.
  virtual bool flush() = 0;
  virtual void begin_reading() = 0;
  virtual void close() = 0;

  /// Calls work, and tells the keeper of what it throws: no exception may pass
  /// through libevent's C. Nothing of this may be touched afterwards.
  template <class Work>
  void guarded(Work work) {
    try {
      work();
    } catch (...) {
      keeper_.failed(*this, std::current_exception());
    }
  }

  Keeper& keeper_;
  std::unique_ptr<Flow> flow_;

 private:
  bool open_ = true;
};

enum class Api { event, bufferevent };

/// The level of option api.
Api parse_api(const std::string& level);

/// A connection on a connected, non-blocking socket.
std::unique_ptr<Connection> make_connection(Api api, const Base& base, Descriptor fd,
                                            std::unique_ptr<Flow> flow, Keeper& keeper);

}  // namespace netdyno::libevent_worker
