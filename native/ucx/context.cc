#include "ucx/context.h"

#include <memory>
#include <utility>

#include "kit/contract.h"
#include "kit/interfaces.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// UCX's own features for an operation. Small messages of put and get are active ones.
std::uint64_t features(const Settings& settings) {
  const std::uint64_t wakeup = settings.event ? UCP_FEATURE_WAKEUP : 0;
  switch (settings.operation) {
    case Operation::tag:
      return wakeup | UCP_FEATURE_TAG;
    case Operation::am:
      return wakeup | UCP_FEATURE_AM;
    case Operation::stream:
      return wakeup | UCP_FEATURE_STREAM;
    case Operation::put:
    case Operation::get:
      break;
  }
  return wakeup | UCP_FEATURE_AM | UCP_FEATURE_RMA;
}

void configure(ucp_config_t* config, const Settings& settings, const std::string& host) {
  for (const auto& [name, value] : configuration(settings, devices_of(host))) {
    const ucs_status_t status = ucp_config_modify(config, name.c_str(), value.c_str());
    if (status == UCS_OK) continue;
    throw Failure(ErrorKind::setup, "set UCX_" + name + " to " + value + ": " + reason(status));
  }
}

void require_cuda(ucp_context_h context) {
  ucp_context_attr_t attr{};
  attr.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  const ucs_status_t status = ucp_context_query(context, &attr);
  if (status == UCS_OK && (attr.memory_types & (std::uint64_t{1} << UCS_MEMORY_TYPE_CUDA)) != 0) return;
  throw Failure(ErrorKind::unsupported, "option memory is cuda: this UCX (" + version() +
                                            ") has no transports for CUDA; libuct_cuda is missing or was "
                                            "built for another driver");
}

}  // namespace

Context::Context(const Settings& settings, const std::string& host) {
  if (const std::string interface = interface_of(host); !interface.empty()) show_interface(interface);
  ucp_config_t* read = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &read);
  if (status != UCS_OK) throw Failure(ErrorKind::setup, "read UCX's configuration: " + reason(status));
  const std::unique_ptr<ucp_config_t, decltype(&ucp_config_release)> config(read, &ucp_config_release);
  configure(config.get(), settings, host);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = features(settings);
  status = ucp_init(&params, config.get(), &context_);
  if (status != UCS_OK) {
    throw Failure(ErrorKind::unsupported,
                  "set up UCX for option tls " + settings.tls + " on " + host + ": " + reason(status));
  }
  try {
    if (settings.cuda) require_cuda(context_);
    make_worker();
  } catch (...) {
    ucp_cleanup(context_);
    throw;
  }
}

void Context::make_worker() {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // built on one thread, run on another
  const ucs_status_t status = ucp_worker_create(context_, &params, &worker_);
  if (status != UCS_OK) throw Failure(ErrorKind::setup, "create a UCX worker: " + reason(status));
}

Context::~Context() {
  end();
  ucp_cleanup(context_);
}

void Context::end() {
  if (worker_ != nullptr) ucp_worker_destroy(std::exchange(worker_, nullptr));
}

std::string Context::address() const {
  ucp_address_t* address = nullptr;
  std::size_t size = 0;
  const ucs_status_t status = ucp_worker_get_address(worker_, &address, &size);
  if (status != UCS_OK) throw Failure(ErrorKind::setup, "read a UCX worker's address: " + reason(status));
  std::string bytes(reinterpret_cast<const char*>(address), size);
  ucp_worker_release_address(worker_, address);
  return bytes;
}

std::string version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp_get_version(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

std::string reason(ucs_status_t status) { return ucs_status_string(status); }

}  // namespace netdyno::ucx
