#include "ucx/operations.h"

namespace netdyno::ucx {

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
