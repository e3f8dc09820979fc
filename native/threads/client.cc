#include "threads/client.h"

#include <utility>

namespace netdyno::threads_worker {

void Shared::join(bool works) { working_ += works ? 1 : 0; }

void Shared::leave() {
  if (--working_ > 0) return;
  for (Connection* const connection : idle_) connection->release();
}

void ThreadLoop::add(int fd, std::unique_ptr<Flow> flow, bool active) {
  connection_ = std::make_unique<Connection>(shared_->manner, Descriptor(fd), std::move(flow));
  works_ = active;
  shared_->join(active);
  if (!active) shared_->idles(*connection_);
  opened(active);
}

void ThreadLoop::run() {
  if (!works_) {
    if (!connection_->watch()) lost(false);
    return;
  }
  // Also when the flow throws, because nobody else wakes those that watch.
  struct Leave {
    Shared& shared;
    ~Leave() { shared.leave(); }
  } const leave{*shared_};
  if (!connection_->run(&agenda())) lost(true);
}

}  // namespace netdyno::threads_worker
