

#include "ucx/operations.h"

namespace netdyno::ucx {

std::unique_ptr<Channel> make_channel(Engine& engine, std::uint64_t id) {
  switch (engine.settings().operation) {
    case Operation::tag:
      break;
    case Operation::stream:
      return std::make_unique<StreamChannel>(engine, id);
    case Operation::put:
      return std::make_unique<PutChannel>(engine, id);
    case Operation::get:
      return std::make_unique<GetChannel>(engine, id);
  }
  return std::make_unique<TagChannel>(engine, id);
}

namespace {

constexpr ucp_tag_t kWholeTag = ~ucp_tag_t{0};

}  // namespace

TagChannel::TagChannel(Engine& engine, std::uint64_t id)
    : Channel(engine, id), own_(std::make_unique<Memory>(engine.memories(), engine.max_message())) {
  receives_.resize(engine.settings().window);  // their places are UCX's contexts
  for (Receive& receive : receives_) receive.channel = this;
}

void TagChannel::cancel() {
  for (const Receive& receive : receives_) {
    if (receive.request != nullptr) ucp_request_cancel(engine().worker(), receive.request);
  }
}

void TagChannel::connect(const Introduction& theirs) {
  Channel::connect(theirs);
  post(receives_[0]);
}

void TagChannel::send(std::span<const char> message) {
  require_whole();
  const Memory& source = *engine().sources().of(message).memory;
  const ucp_request_param_t param = sending();
  message_begun(ucp_tag_send_nbx(endpoint(), source.data(), message.size(), their_id(), &param));
}

void TagChannel::only_count() {
  counting_ = true;
  for (Receive& receive : receives_) {
    if (receive.request == nullptr) post(receive);
  }
}

/// Posts a receive, and tells of the messages that were there before it. UCX 1.13 does
/// not fill in the size of one that completes at once (UCP_OP_ATTR_FIELD_RECV_INFO), so
/// that it is asked for before.
void TagChannel::post(Receive& receive) {
  const Memory& into = counting_ ? engine().shared() : *own_;
  while (!closing() && broken().empty()) {
    ucp_tag_recv_info_t info{};
    ucp_tag_probe_nb(engine().worker(), id(), kWholeTag, 0, &info);
    ucp_request_param_t param = parameters(&receive);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    param.memory_type = engine().memories().type();
    param.cb.recv = received;
    const ucs_status_ptr_t request =
        ucp_tag_recv_nbx(engine().worker(), into.data(), into.size(), id(), kWholeTag, &param);
    if (begun(request)) {
      receive.request = request;
      return;
    }
    if (request == nullptr) tell(info.length);
  }
}

void TagChannel::received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info,
                          void* receive) {
  auto& at = *static_cast<Receive*>(receive);
  TagChannel& self = *at.channel;
  at.request = nullptr;
  if (!self.ended(request, status)) return;
  self.tell(info->length);
  if (self.counting_ && &at == &self.receives_[0]) self.own_.reset();  // the only one that fills it
  self.post(at);
}

void TagChannel::tell(std::size_t size) {
  if (counting_) {
    engine().tell(*this, {engine().shared().data(), size}, true);
  } else {
    engine().tell(*this, own_->read(0, size), false);
  }
}

void StreamChannel::send(std::span<const char> message) {
  require_whole();
  const Memory& source = *engine().sources().of(message).memory;
  const ucp_request_param_t param = sending();
  message_begun(ucp_stream_send_nbx(endpoint(), source.data(), message.size(), &param));
}

void StreamChannel::readable() {
  for (std::size_t size = 0; broken().empty();) {
    const ucs_status_ptr_t data = ucp_stream_recv_data_nb(endpoint(), &size);
    if (data == nullptr) return;
    if (UCS_PTR_IS_ERR(data)) {
      fail("read a stream: " + std::string(ucs_status_string(UCS_PTR_STATUS(data))));
      return;
    }
    engine().tell(*this, {static_cast<const char*>(data), size}, counting_);
    ucp_stream_data_release(endpoint(), data);
  }
}

}  // namespace netdyno::ucx
