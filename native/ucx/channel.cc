#include "ucx/channel.h"

#include <array>
#include <string_view>

#include "kit/contract.h"
#include "ucx/engine.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::string_view kMagic = "ucx1";

std::string_view take(std::string_view& text, std::uint64_t size) {
  if (size > text.size()) {
    throw contract::Failure(contract::ErrorKind::invalid,
                            "meet the other end: what it sent ends early; is it another version?");
  }
  const auto part = text.substr(0, size);
  text.remove_prefix(size);
  return part;
}

std::uint64_t number(std::string_view& text) { return numbers(take(text, sizeof(std::uint64_t)))[0]; }

}  // namespace

std::string Introduction::text() const {
  const std::array<std::uint64_t, 5> head = {static_cast<std::uint64_t>(operation), id, memory, key.size(),
                                             host.size()};
  return std::string(kMagic) + words(head) + key + host + worker;
}

Introduction Introduction::read(const std::string& text) {
  std::string_view rest = text;
  const bool known = rest.starts_with(kMagic);
  rest.remove_prefix(known ? kMagic.size() : rest.size());
  Introduction theirs;
  const std::uint64_t operation = number(rest);
  if (operation > static_cast<std::uint64_t>(Operation::get)) take(rest, rest.size() + 1);
  theirs.operation = static_cast<Operation>(operation);
  theirs.id = number(rest);
  theirs.memory = number(rest);
  const std::uint64_t key = number(rest);
  const std::uint64_t host = number(rest);
  theirs.key = take(rest, key);
  theirs.host = take(rest, host);
  theirs.worker = rest;
  if (theirs.worker.empty()) take(rest, 1);
  return theirs;
}

namespace {

void endpoint_broke(void* channel, ucp_ep_h, ucs_status_t status) {
  static_cast<Channel*>(channel)->fail("UCX lost the connection: " + reason(status));
}

}  // namespace

bool Channel::full() const {
  return broken_.empty() && outstanding_ >= static_cast<std::int64_t>(engine_.settings().window);
}

void Channel::introduce(Introduction& mine) { mine.id = id_; }

void Channel::connect(const Introduction& theirs) {
  their_id_ = theirs.id;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_USER_DATA;
  params.address = reinterpret_cast<const ucp_address_t*>(theirs.worker.data());
  // A lost peer ends a connection, not the process. Shared memory cannot tell of one, so
  // that UCX leaves it out where it is asked to; there the control socket tells.
  forceful_ = !engine_.may_share_memory(theirs.host);
  params.err_mode = forceful_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  params.err_handler = {endpoint_broke, this};
  params.user_data = this;
  const ucs_status_t status = ucp_ep_create(engine_.worker(), &params, &endpoint_);
  if (status == UCS_OK) return;
  throw Failure(ErrorKind::setup,
                "reach the other end by option tls " + engine_.settings().tls + ": " + reason(status));
}

void Channel::heard(std::uint64_t, std::string_view) { fail("an active message came that nobody asked for"); }

void Channel::fail(const std::string& text) {
  if (closing_ || !broken_.empty()) return;
  broken_ = text;
  engine_.broke(*this);
}

ucp_request_param_t Channel::parameters(void* context) const {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.user_data = context;
  return parameters;
}

bool Channel::begun(ucs_status_ptr_t request) {
  if (UCS_PTR_IS_ERR(request)) {
    fail("UCX: " + reason(UCS_PTR_STATUS(request)));
    return false;
  }
  if (request == nullptr) return false;
  under_way_++;
  return true;
}

bool Channel::ended(void* request, ucs_status_t status) {
  ucp_request_free(request);
  under_way_--;
  if (status == UCS_OK) return true;
  if (status != UCS_ERR_CANCELED) fail("UCX: " + reason(status));
  return false;
}

void Channel::require_whole() const {
  if (!broken_.empty()) throw Failure(ErrorKind::peer, broken_);
}

ucp_request_param_t Channel::sending() {
  ucp_request_param_t param = parameters(this);
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_MULTI_SEND;
  param.memory_type = engine_.memories().type();
  param.cb.send = sent;
  return param;
}

void Channel::message_begun(ucs_status_ptr_t request) {
  if (begun(request)) outstanding_++;
}

void Channel::sent(void* request, ucs_status_t status, void* channel) {
  auto& self = *static_cast<Channel*>(channel);
  self.outstanding_--;
  self.ended(request, status);
}

void Channel::say(std::uint64_t kind, std::string bytes) {
  auto saying = std::make_unique<Saying>(Saying{this, {their_id_, kind}, std::move(bytes)});
  ucp_request_param_t param = parameters(saying.get());
  param.cb.send = said;
  const Saying& at = *saying;
  if (begun(ucp_am_send_nbx(endpoint_, Engine::kActive, &at.head, sizeof at.head, at.bytes.data(),
                            at.bytes.size(), &param))) {
    saying.release();  // said takes it
  }
}

void Channel::said(void* request, ucs_status_t status, void* saying) {
  const std::unique_ptr<Saying> at(static_cast<Saying*>(saying));
  at->channel->ended(request, status);
}

void Channel::close() {
  closing_ = true;
  cancel();
  if (endpoint_ == nullptr || !forceful_) return;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  close_ = ucp_ep_close_nbx(endpoint_, &param);
  if (!UCS_PTR_IS_PTR(close_)) close_ = nullptr;
}

bool Channel::at_rest() {
  if (close_ != nullptr && ucp_request_check_status(close_) != UCS_INPROGRESS) {
    ucp_request_free(close_);
    close_ = nullptr;
  }
  return closing_ && close_ == nullptr && under_way_ == 0;
}

HeldChannel::~HeldChannel() { engine_.retire(channel_); }

}  // namespace netdyno::ucx
