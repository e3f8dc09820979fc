// The classes of a load: of which one each exchange is, and the key that its path names
// (contract/MIXES.md).
//
// Layer: above service. Immutable after construction: any thread may use it. Go counterpart:
// internal/work/load/draws.go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kit/contract.h"
#include "kit/service.h"

namespace netdyno {

class Mix {
 public:
  /// Of a setup with classes. Throws Failure{setup} that names the field of load that cannot be.
  explicit Mix(const contract::Setup& setup);

  /// The number of the class of exchange n; of the first exchange of connection n, too.
  std::size_t class_of(std::uint64_t n) const { return static_cast<std::size_t>(classes_->draw(n)); }
  /// What stands for {key} in its path; 0 without keys.
  std::int64_t key_of(std::uint64_t n) const { return keys_ ? keys_->draw(n) : 0; }

 private:
  std::optional<Drawer> classes_;
  std::optional<Drawer> keys_;
};

}  // namespace netdyno
