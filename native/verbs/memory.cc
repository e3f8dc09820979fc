#include "verbs/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "kit/contract.h"
#include "verbs/reasons.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// Bytes that this process has registered and not given back, of all threads.
std::atomic<std::uint64_t> held{0};

Registration registered(ibv_pd& domain, void* memory, std::size_t bytes, int access) {
  Registration registration(ibv_reg_mr(&domain, memory, bytes, access));
  if (!registration) {
    const int code = errno;
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    throw Failure(ErrorKind::setup, reason_of(Refused{code, bytes, held, limit.rlim_cur}));
  }
  held += bytes;
  return registration;
}

bool holds(const ibv_mr& registration, std::uintptr_t from, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(registration.addr);
  return from >= begin && from + bytes <= begin + registration.length;
}

}  // namespace

void Pages::Unmap::operator()(char* memory) const {
  held -= bytes;
  munmap(memory, bytes);
}

Pages::Pages(ibv_pd& domain, std::size_t bytes, int access) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Failure(ErrorKind::setup, failed("allocate " + std::to_string(bytes) + " bytes"));
  try {
    registration_ = registered(domain, memory, bytes, access);
  } catch (const Failure&) {
    munmap(memory, bytes);
    throw;
  }
  memory_ = {static_cast<char*>(memory), Unmap{bytes}};
}

const ibv_mr& PinDownCache::of(std::span<const char> bytes) {
  const auto from = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (last_ != nullptr && holds(*last_, from, bytes.size())) return *last_;
  const auto behind = by_end_.lower_bound(from + bytes.size());
  if (behind != by_end_.end() && holds(*behind->second, from, bytes.size()))
    return *(last_ = behind->second.get());
  // Whole pages, because those are what is pinned; neighbours come with them.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = from / page * page;
  const std::uintptr_t end = (from + bytes.size() + page - 1) / page * page;
  // The card only reads what a trial sends.
  auto made = registered(domain_, reinterpret_cast<void*>(begin), end - begin, IBV_ACCESS_REMOTE_READ);
  auto& kept = by_end_[end];
  if (kept == nullptr || kept->length < made->length) std::swap(kept, made);
  return *(last_ = kept.get());
}

}  // namespace netdyno::verbs
