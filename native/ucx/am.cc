#include "ucx/operations.h"

namespace netdyno::ucx {

void AmChannel::connect(const Introduction& theirs) {
  head_.id = theirs.id;
  Channel::connect(theirs);
}

void AmChannel::send(std::span<const char> message) {
  require_whole();
  const Memory& source = *engine().sources().of(message).memory;
  const ucp_request_param_t param = sending();
  message_begun(ucp_am_send_nbx(endpoint(), Engine::kActive, &head_, sizeof head_, source.data(),
                                message.size(), &param));
}

ucs_status_t AmChannel::heard(std::uint64_t, void* bytes, std::size_t size, bool descriptor) {
  if (descriptor) {
    queue({size, {}, bytes});
    return UCS_INPROGRESS;  // it stays until it was fetched
  }
  const std::span<const char> message(static_cast<const char*>(bytes), size);
  if (idle()) {
    tell(message);
  } else {
    queue({size, std::string(message.begin(), message.end())});
  }
  return UCS_OK;
}

ucs_status_ptr_t AmChannel::begin(const Fetch& fetch, char* to, UnderWay* context) {
  ucp_request_param_t param = parameters(context);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = engine().memories().type();
  param.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* at) {
    fetched(request, status, static_cast<UnderWay*>(at));
  };
  return ucp_am_recv_data_nbx(engine().worker(), fetch.descriptor, to, fetch.size, &param);
}

}  // namespace netdyno::ucx
