#include "ucx/context.h"

#include <ucs/config/global_opts.h>

#include <algorithm>

#include "kit/address.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

}  // namespace

std::string words(std::span<const std::uint64_t> numbers) {
  std::string bytes;
  bytes.reserve(numbers.size() * kWord);
  for (const std::uint64_t number : numbers) {
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  }
  return bytes;
}

std::vector<std::uint64_t> numbers(std::string_view words) {
  std::vector<std::uint64_t> all;
  all.reserve(words.size() / kWord);
  for (; words.size() >= kWord; words.remove_prefix(kWord)) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < kWord; i++) {
      number |= std::uint64_t{static_cast<unsigned char>(words[i])} << (8 * i);
    }
    all.push_back(number);
  }
  return all;
}

namespace {

/// Lanes are few; more than these are not looked for.
constexpr std::size_t kMaxLanes = 32;

/// A lane's line is "lane[0]:  1:tcp/lo.0 md[1]  -> md[1]/tcp/sysdev[255] am …".
/// Returns "tcp/lo".
std::string_view resource_of(std::string_view line) {
  const auto lane = line.find("lane[");
  if (lane == line.npos) return {};
  const auto colon = line.find("]:", lane);
  if (colon == line.npos) return {};
  auto rest = line.substr(colon + 2);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  rest = rest.substr(0, rest.find(' '));
  const auto number = rest.find(':');
  if (number == rest.npos) return {};
  rest.remove_prefix(number + 1);
  const auto path = rest.rfind('.');  // the number of the path on the device
  return path == rest.npos ? rest : rest.substr(0, path);
}

}  // namespace

std::string lanes_of(std::string_view printed) {
  std::vector<std::string_view> found;
  while (!printed.empty() && found.size() < kMaxLanes) {
    const auto end = std::min(printed.find('\n'), printed.size());
    const auto resource = resource_of(printed.substr(0, end));
    printed.remove_prefix(std::min(end + 1, printed.size()));
    if (!resource.empty() && std::find(found.begin(), found.end(), resource) == found.end()) {
      found.push_back(resource);
    }
  }
  std::string lanes;
  for (const auto resource : found) lanes.append(lanes.empty() ? "" : " ").append(resource);
  return lanes;
}

namespace {

/// UCX's own features for an operation. Small messages of put and get are active ones.
std::uint64_t features(const Settings& settings) {
  const std::uint64_t wakeup = settings.event ? UCP_FEATURE_WAKEUP : 0;
  switch (settings.operation) {
    case Operation::tag:
      return wakeup | UCP_FEATURE_TAG;
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

/// UCX learns of a GPU's memory by patching the driver's functions. A patch that misses an
/// allocation makes it memory of the host to UCX, whatever memory type a call names. Without its
/// cache UCX asks the driver about each address.
void ask_the_driver() {
  const ucs_status_t status = ucs_global_opts_set_value("MEMTYPE_CACHE", "n");
  if (status != UCS_OK) throw Failure(ErrorKind::setup, "set UCX_MEMTYPE_CACHE to n: " + reason(status));
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
  if (settings.cuda) ask_the_driver();
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

Memory::Memory(const Memories& of, std::size_t bytes) : of_(of), size_(bytes) {
  if (of.store.cuda) {
    block_ = std::make_unique<Block>(of.store, bytes);
    data_ = block_->data();
  }
  map();
}

Memory::Memory(const Memories& of, std::span<const char> there)
    : of_(of), size_(there.size()), data_(const_cast<char*>(there.data())) {
  map();
}

void Memory::map() {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
  params.length = size_;
  params.memory_type = of_.type();
  params.address = data_;
  if (data_ == nullptr) params.flags = UCP_MEM_MAP_ALLOCATE;
  const ucs_status_t mapped = ucp_mem_map(of_.context, &params, &handle_);
  ucp_mem_attr_t attr{};
  attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  if (mapped == UCS_OK && ucp_mem_query(handle_, &attr) == UCS_OK) {
    if (data_ == nullptr) data_ = static_cast<char*>(attr.address);
    return;
  }
  throw Failure(ErrorKind::setup,
                "map " + std::to_string(size_) + " bytes for UCX: " + ucs_status_string(mapped));
}

Memory::~Memory() { ucp_mem_unmap(of_.context, handle_); }

void Memory::write(std::span<const char> bytes) {
  if (block_) return block_->write(bytes);
  std::copy(bytes.begin(), bytes.end(), data_);
}

std::span<const char> Memory::read(std::size_t at, std::size_t size) {
  if (block_) return block_->read(at, size);
  return {data_ + at, size};
}

std::string Memory::key() const {
  void* packed = nullptr;
  std::size_t size = 0;
  const ucs_status_t status = ucp_rkey_pack(of_.context, handle_, &packed, &size);
  if (status != UCS_OK) {
    throw Failure(ErrorKind::setup, std::string("pack a key of memory: ") + ucs_status_string(status));
  }
  std::string key(static_cast<const char*>(packed), size);
  ucp_rkey_buffer_release(packed);
  return key;
}

Sources::Source Sources::of(std::span<const char> message) {
  for (std::size_t i = 0; i < copies_.size(); i++) {
    const Copy& copy = copies_[i];
    if (copy.message == message.data() && message.size() <= copy.memory->size())
      return {copy.memory.get(), i};
  }
  const bool there = of_.store.place == Place::staged;
  auto memory =
      there ? std::make_unique<Memory>(of_, message) : std::make_unique<Memory>(of_, message.size());
  if (!there) memory->write(message);
  copies_.push_back({message.data(), std::move(memory)});
  return {copies_.back().memory.get(), copies_.size() - 1};
}

}  // namespace netdyno::ucx
