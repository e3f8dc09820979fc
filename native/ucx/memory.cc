#include "ucx/memory.h"

#include <algorithm>

#include "kit/contract.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

Memory::Memory(const Memories& of, std::size_t bytes) : of_(of), size_(bytes) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
  params.length = bytes;
  params.memory_type = of.type();
  if (of.cuda) {
    data_ = of.cuda->allocate(bytes);
    params.address = data_;
  } else {
    params.flags = UCP_MEM_MAP_ALLOCATE;
  }
  const ucs_status_t mapped = ucp_mem_map(of.context, &params, &handle_);
  ucp_mem_attr_t attr{};
  attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  if (mapped == UCS_OK && ucp_mem_query(handle_, &attr) == UCS_OK) {
    data_ = static_cast<char*>(attr.address);
    return;
  }
  if (of.cuda) of.cuda->free(data_);
  throw Failure(ErrorKind::setup,
                "map " + std::to_string(bytes) + " bytes for UCX: " + ucs_status_string(mapped));
}

Memory::~Memory() {
  ucp_mem_unmap(of_.context, handle_);
  if (of_.cuda) of_.cuda->free(data_);
}

void Memory::write(std::span<const char> bytes) {
  if (of_.cuda) {
    of_.cuda->to_device(data_, bytes);
  } else {
    std::copy(bytes.begin(), bytes.end(), data_);
  }
}

std::span<const char> Memory::read(std::size_t at, std::size_t size) {
  if (!of_.cuda) return {data_ + at, size};
  copy_.resize(size);
  of_.cuda->to_host(copy_, data_ + at);
  return copy_;
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
  auto memory = std::make_unique<Memory>(of_, message.size());
  memory->write(message);
  copies_.push_back({message.data(), std::move(memory)});
  return {copies_.back().memory.get(), copies_.size() - 1};
}

}  // namespace netdyno::ucx
