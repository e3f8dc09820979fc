// Memory that the card may reach. Registering pins pages, which takes longer than
// sending them, so it is done once for each block that a trial sends from.
//
// Layer: above card. One thread at a time.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "verbs/card.h"

namespace netdyno::verbs {

using Registration = Owned<ibv_mr, ibv_dereg_mr>;

/// Pages of our own, registered for the card to write to.
class Pages {
 public:
  Pages() = default;
  /// access are IBV_ACCESS flags. Throws Failure{setup}.
  Pages(ibv_pd& domain, std::size_t bytes, int access);
  Pages(Pages&& other) noexcept = default;
  Pages& operator=(Pages&& other) noexcept = default;

  char* at(std::size_t offset) const { return memory_.get() + offset; }
  const ibv_mr& registration() const { return *registration_; }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Unmap> memory_{nullptr, Unmap{0}};
  Registration registration_;  // goes before the memory
};

/// Registrations of others' memory, by address.
class PinDownCache {
 public:
  explicit PinDownCache(ibv_pd& domain) : domain_(domain) {}

  /// The registration that holds the bytes; made when there is none. They stay where
  /// they are while the cache lives. Throws Failure{setup}.
  const ibv_mr& of(std::span<const char> bytes);

 private:
  ibv_pd& domain_;
  std::map<std::uintptr_t, Registration> by_end_;  // by the address behind its last byte
  const ibv_mr* last_ = nullptr;                   // most messages come from the same block
};

}  // namespace netdyno::verbs
