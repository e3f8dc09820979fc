#include "uring/buffers.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace netdyno::uring_worker {

using contract::ErrorKind;
using contract::Failure;

Buffers::Buffers(Ring& ring)
    : entries_(map(kCount * sizeof(io_uring_buf))), memory_(map(std::size_t{kCount} * kSize)) {
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(entries_.get());
  registration.ring_entries = kCount;
  registration.bgid = kGroup;
  const int result = io_uring_register_buf_ring(ring.get(), &registration, 0);
  if (result < 0) {
    throw Failure(ErrorKind::setup, std::string("register buffers with io_uring: ") + std::strerror(-result));
  }
  auto* const entries = static_cast<io_uring_buf_ring*>(entries_.get());
  io_uring_buf_ring_init(entries);
  for (std::uint16_t buffer = 0; buffer < kCount; buffer++) add(buffer, buffer);
  io_uring_buf_ring_advance(entries, kCount);
}

void Buffers::Unmap::operator()(void* memory) const { munmap(memory, size); }

Buffers::Memory Buffers::map(std::size_t size) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw Failure(ErrorKind::setup,
                  "map " + std::to_string(size) + " bytes for buffers: " + std::strerror(errno));
  }
  return {memory, Unmap{size}};
}

std::span<const char> Buffers::bytes(const Portion& portion) const {
  const char* const buffer = static_cast<const char*>(memory_.get()) + std::size_t{portion.buffer} * kSize;
  return {buffer + portion.from, portion.to - portion.from};
}

Portion Buffers::take(const Completion& completion) {
  taken_++;
  return {static_cast<std::uint16_t>(completion.flags >> IORING_CQE_BUFFER_SHIFT), 0,
          static_cast<std::uint32_t>(completion.result)};
}

void Buffers::give_back(const Portion& portion) {
  taken_--;
  add(portion.buffer, 0);
  io_uring_buf_ring_advance(static_cast<io_uring_buf_ring*>(entries_.get()), 1);
}

void Buffers::add(std::uint16_t buffer, int offset) {
  char* const memory = static_cast<char*>(memory_.get()) + std::size_t{buffer} * kSize;
  io_uring_buf_ring_add(static_cast<io_uring_buf_ring*>(entries_.get()), memory, kSize, buffer,
                        io_uring_buf_ring_mask(kCount), offset);
}

}  // namespace netdyno::uring_worker
