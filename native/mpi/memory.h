// Where messages lie: in the host's memory or in a GPU's.
//
// Layer: above the kit's cuda. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kit/cuda.h"

namespace netdyno::mpi_worker {

/// A GPU, or null for the host.
using Device = std::shared_ptr<const Cuda>;

/// A block of memory.
class Memory {
 public:
  /// Throws Failure when there is not so much.
  Memory(Device device, std::size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// The first size bytes where the host can read them, until the next call.
  std::span<const char> read(std::size_t size);

 private:
  Device device_;
  std::size_t size_;
  char* data_;
  std::vector<char> host_;  // the block itself, or a copy of what was read from the device
};

/// Messages as they are sent: themselves on the host, else copies on the device, made
/// once for each, because a flow's messages never change.
class Sources {
 public:
  explicit Sources(Device device) : device_(std::move(device)) {}
  const char* of(std::span<const char> message);

 private:
  struct Copy {
    const char* message;
    std::unique_ptr<Memory> memory;
  };
  Device device_;
  std::vector<Copy> copies_;  // a few: a flow repeats one block, and what is left of it
};

}  // namespace netdyno::mpi_worker
