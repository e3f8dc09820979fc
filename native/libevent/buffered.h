// A connection by bufferevents (option api=bufferevent), with libevent's own sizes of
// reads and writes. An exchange counts as sent when it is in libevent's buffer.
// Layer: libevent worker, above base.
#pragma once

#include <event2/bufferevent.h>

#include <memory>

#include "libevent/connection.h"

namespace netdyno::libevent_worker {

class Buffered : public Connection {
 public:
  Buffered(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer);

 protected:
  bool flush() override;
  void begin_reading() override;
  void close() override { events_.reset(); }

 private:
  void readable();

  std::unique_ptr<bufferevent, decltype(&bufferevent_free)> events_;
};

}  // namespace netdyno::libevent_worker
