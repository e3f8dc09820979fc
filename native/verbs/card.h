// An open device for RDMA, at the port that a trial uses.
//
// Layer: above choice, reasons. One thread at a time.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "verbs/choice.h"
#include "verbs/settings.h"

namespace netdyno::verbs {

/// What libibverbs gives, which it takes back by Release.
template <class T, int (*Release)(T*)>
struct Releasing {
  void operator()(T* what) const { Release(what); }
};
template <class T, int (*Release)(T*)>
using Owned = std::unique_ptr<T, Releasing<T, Release>>;

class Card {
 public:
  /// Opens the device that the settings and the address of this end ask for. Throws
  /// Failure with the reason when there is none.
  Card(const Settings& settings, const std::string& address);

  const Candidate& port() const { return port_; }
  std::uint32_t mtu_bytes() const { return mtu_bytes_; }
  const ibv_device_attr& limits() const { return limits_; }
  ibv_context& context() const { return *context_; }
  ibv_pd& domain() const { return *domain_; }

 private:
  Candidate port_;
  std::uint32_t mtu_bytes_ = 0;
  ibv_device_attr limits_{};
  Owned<ibv_context, ibv_close_device> context_;
  Owned<ibv_pd, ibv_dealloc_pd> domain_;
};

/// The kernel's word for what the last call left in errno: "open rxe0: Permission denied".
std::string failed(const std::string& what);

/// MTUs as libibverbs counts them.
ibv_mtu mtu_of(std::uint32_t bytes);
std::uint32_t bytes_of(ibv_mtu mtu);

}  // namespace netdyno::verbs
