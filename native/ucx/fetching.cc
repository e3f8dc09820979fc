#include "ucx/operations.h"

namespace netdyno::ucx {

FetchingChannel::FetchingChannel(Engine& engine, std::uint64_t id)
    : Channel(engine, id), own_(std::make_unique<Memory>(engine.memories(), engine.max_message())) {}

void FetchingChannel::only_count() {
  counting_ = true;
  start();
}

void FetchingChannel::queue(Fetch fetch) {
  if (fetch.size > engine().max_message()) {
    fail("a message of " + std::to_string(fetch.size) + " bytes came, expected at most " +
         std::to_string(engine().max_message()));
    return;
  }
  fetches_.push_back(std::move(fetch));
  start();
}

/// Begins what may begin: the next one while content matters, then all.
void FetchingChannel::start() {
  while (!fetches_.empty() && (counting_ || fetching_ == 0) && !closing() && broken().empty()) {
    const Fetch fetch = std::move(fetches_.front());
    fetches_.pop_front();
    if (!fetch.copy.empty()) {
      tell(fetch.copy);
      taken();
      continue;
    }
    auto context = std::make_unique<UnderWay>(UnderWay{this, fetch.size});
    char* to = counting_ ? engine().shared().data() : own_->data();
    fetching_++;
    const ucs_status_ptr_t request = begin(fetch, to, context.get());
    if (begun(request)) {
      context.release();  // fetched takes it
    } else if (request == nullptr) {
      done(fetch.size);
    }
  }
}

void FetchingChannel::fetched(void* request, ucs_status_t status, UnderWay* context) {
  const std::unique_ptr<UnderWay> at(context);
  FetchingChannel& self = *at->channel;
  if (!self.ended(request, status)) return;
  self.done(at->size);
  self.start();
}

void FetchingChannel::done(std::size_t size) {
  fetching_--;
  if (counting_) {
    tell({engine().shared().data(), size});
  } else {
    tell(own_->read(0, size));
  }
  taken();
}

void FetchingChannel::tell(std::span<const char> message) { engine().tell(*this, message, counting_); }

}  // namespace netdyno::ucx
