// A connection by readiness events (option api=event).
// Layer: libevent worker, above base.
#pragma once

#include "libevent/connection.h"

namespace netdyno::libevent_worker {

class Direct : public Connection {
 public:
  Direct(const Base& base, Descriptor fd, std::unique_ptr<Flow> flow, LoopObserver& observer);

 protected:
  bool flush() override;
  void begin_reading() override { reading_.start(); }
  void close() override;

 private:
  void readable();

  Descriptor fd_;
  Watch reading_;
  Watch writing_;  // started while the kernel takes no more bytes
};

}  // namespace netdyno::libevent_worker
