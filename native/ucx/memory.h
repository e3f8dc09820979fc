// Memory that UCX knows: registered with it, in the host or on a device.
//
// Layer: above cuda. One thread at a time.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kit/cuda.h"

namespace netdyno::ucx {

/// What memory is made of: a context of UCX, and a device or none.
struct Memories {
  ucp_context_h context = nullptr;
  std::shared_ptr<const Cuda> cuda = {};

  ucs_memory_type_t type() const { return cuda ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST; }
};

/// A block of memory. The context outlives it.
class Memory {
 public:
  /// Throws Failure{setup} when there is not so much.
  Memory(const Memories& of, std::size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  void write(std::span<const char> bytes);
  /// size bytes from at on, where the host can read them: until the next call.
  std::span<const char> read(std::size_t at, std::size_t size);
  /// What another end needs to reach the block: opaque bytes.
  std::string key() const;

 private:
  Memories of_;
  std::size_t size_;
  char* data_ = nullptr;
  ucp_mem_h handle_ = nullptr;
  std::vector<char> copy_;  // of a device's memory
};

/// Messages as they are sent: copies in memory that UCX knows, made once for each, since
/// a flow's messages never change.
class Sources {
 public:
  explicit Sources(const Memories& of) : of_(of) {}

  struct Source {
    const Memory* memory;
    std::size_t number;  // counts from 0 in the order in which they were made
  };
  /// The copy of a message. Throws Failure{setup} when there is no memory.
  Source of(std::span<const char> message);
  /// The copy with a number.
  const Memory& at(std::size_t number) const { return *copies_[number].memory; }

 private:
  struct Copy {
    const char* message;
    std::unique_ptr<Memory> memory;
  };
  Memories of_;
  std::vector<Copy> copies_;
};

}  // namespace netdyno::ucx
