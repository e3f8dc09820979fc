#include "libevent/connection.h"

#include <utility>

#include "libevent/buffered.h"
#include "libevent/direct.h"

namespace netdyno::libevent_worker {

void Connection::begin() {
  guarded([this] {
    flow_->begin(observer_.now());
    begin_reading();
    flush();
  });
}

void Connection::send(std::uint32_t slot) {
  guarded([this, slot] {
    flow_->send(slot);
    flush();
  });
}

void Connection::abandon() {
  open_ = false;
  close();
  flow_->abandon(contract::ErrorKind::peer, observer_.now());
}

Api parse_api(const std::string& level) { return level == "bufferevent" ? Api::bufferevent : Api::event; }

std::unique_ptr<Connection> make_connection(Api api, const Base& base, Descriptor fd,
                                            std::unique_ptr<Flow> flow, LoopObserver& observer) {
  if (api == Api::bufferevent)
    return std::make_unique<Buffered>(base, std::move(fd), std::move(flow), observer);
  return std::make_unique<Direct>(base, std::move(fd), std::move(flow), observer);
}

}  // namespace netdyno::libevent_worker
