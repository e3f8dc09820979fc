#include "h2/memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace netdyno::h2 {

namespace {

Memory& of(void* memory) { return *static_cast<Memory*>(memory); }

}  // namespace

Memory::~Memory() {
  for (Head* next : free_) {
    while (next != nullptr) std::free(std::exchange(next, next->next));
  }
}

nghttp2_mem Memory::asked_by() {
  return {
      this, [](std::size_t size, void* memory) { return of(memory).take(size); },
      [](void* bytes, void* memory) { of(memory).give_back(bytes); },
      [](std::size_t count, std::size_t size, void* memory) { return of(memory).take_zeroed(count, size); },
      [](void* bytes, std::size_t size, void* memory) { return of(memory).resize(bytes, size); }};
}

void* Memory::take(std::size_t size) {
  if (size > SIZE_MAX / 2) return nullptr;
  const std::size_t steps = (size + kStep - 1) / kStep;
  const std::size_t rounded = steps * kStep;
  Head* head = nullptr;
  if (steps < free_.size() && free_[steps] != nullptr) {
    head = free_[steps];
    free_[steps] = head->next;
    kept_ -= rounded;
  } else {
    head = static_cast<Head*>(std::malloc(sizeof(Head) + rounded));
    if (head == nullptr) return nullptr;
  }
  head->size = rounded;
  return head + 1;
}

void Memory::give_back(void* bytes) {
  if (bytes == nullptr) return;
  Head* const head = static_cast<Head*>(bytes) - 1;
  const std::size_t steps = head->size / kStep;
  if (steps >= free_.size() || kept_ + head->size > kMostKept) return std::free(head);
  kept_ += head->size;
  head->next = free_[steps];
  free_[steps] = head;
}

void* Memory::resize(void* bytes, std::size_t size) {
  if (bytes == nullptr) return take(size);
  const std::size_t before = (static_cast<Head*>(bytes) - 1)->size;
  if (size <= before) return bytes;
  void* const more = take(size);
  if (more == nullptr) return nullptr;
  std::memcpy(more, bytes, before);
  give_back(bytes);
  return more;
}

void* Memory::take_zeroed(std::size_t count, std::size_t size) {
  if (size > 0 && count > SIZE_MAX / 2 / size) return nullptr;
  void* const bytes = take(count * size);
  if (bytes != nullptr) std::memset(bytes, 0, count * size);
  return bytes;
}

}  // namespace netdyno::h2
