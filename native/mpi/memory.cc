#include "mpi/memory.h"

#include <algorithm>
#include <utility>

namespace netdyno::mpi_worker {

Memory::Memory(Device device, std::size_t bytes) : device_(std::move(device)), size_(bytes), host_(bytes) {
  if (device_) device_->use();
  data_ = device_ ? device_->allocate(bytes) : host_.data();
}

Memory::~Memory() {
  if (device_) device_->free(data_);
}

std::span<const char> Memory::read(std::size_t size) {
  const auto copy = std::span(host_).first(std::min(size, host_.size()));
  if (device_) device_->to_host(copy, data_);
  return copy;
}

const char* Sources::of(std::span<const char> message) {
  if (!device_) return message.data();
  for (const Copy& copy : copies_) {
    if (copy.message == message.data() && copy.memory->size() == message.size()) return copy.memory->data();
  }
  auto memory = std::make_unique<Memory>(device_, message.size());
  device_->to_device(memory->data(), message);
  copies_.push_back({message.data(), std::move(memory)});
  return copies_.back().memory->data();
}

}  // namespace netdyno::mpi_worker
