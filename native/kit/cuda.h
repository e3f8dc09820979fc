// Memory of a GPU by CUDA's driver, which is loaded when it is asked for: a worker that
// was built without CUDA uses it where it is there.
//
// Layer: above contract. Any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace netdyno {

class Cuda {
 public:
  /// The first device. Throws Failure{unsupported} that says what is missing.
  static std::shared_ptr<const Cuda> first_device();
  virtual ~Cuda() = default;

  /// Makes the device's context that of the calling thread: what a library needs before it
  /// copies. Cheap when it is already.
  virtual void use() const = 0;
  /// Throws Failure{setup} when the device has not so much memory.
  virtual char* allocate(std::size_t bytes) const = 0;
  virtual void free(char* memory) const = 0;
  virtual void to_device(char* to, std::span<const char> from) const = 0;
  virtual void to_host(std::span<char> to, const char* from) const = 0;
};

}  // namespace netdyno
