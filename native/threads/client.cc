#include "threads/client.h"

#include <utility>

namespace netdyno::threads_worker {

void Crew::join(bool works) { working_ += works ? 1 : 0; }

void Crew::leave() {
  if (--working_ > 0) return;
  for (Connection* const connection : idle_) connection->release();
}

void ThreadLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  connection_ = std::make_unique<Connection>(crew_->manner, Descriptor(fd), std::move(flow));
  works_ = active;
  crew_->join(active);
  if (!active) crew_->idles(*connection_);
  opened(active);
}

void ThreadLoop::run() {
  if (!works_) {
    if (!connection_->watch()) lost(false);
    return;
  }
  // Also when the flow throws, because nobody else wakes those that watch.
  struct Leave {
    Crew& crew;
    ~Leave() { crew.leave(); }
  } const leave{*crew_};
  if (!connection_->run(&agenda())) lost(true);
}

}  // namespace netdyno::threads_worker
