// Where a trial's messages lie (option memory): the host's memory, a GPU's, or a GPU's with a copy
// through pinned memory of the host around each message. CUDA's driver is loaded when it is asked
// for: a worker that was built without CUDA uses it where it is there.
//
// Layer: above options. Any thread, one at a time for a block.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kit/contract.h"
#include "kit/system.h"

namespace netdyno {

/// The first GPU by CUDA's driver. Its calls make the device's context that of the calling thread.
class Cuda {
 public:
  /// Throws Failure{unsupported} that says what is missing.
  static std::shared_ptr<const Cuda> first_device();
  virtual ~Cuda() = default;

  /// Makes the device's context that of the calling thread: what a library needs before it
  /// copies. Cheap when it is already.
  virtual void use() const = 0;
  /// Memory that network cards may reach, too. Throws Failure{setup} when there is not so much.
  virtual char* allocate(std::size_t bytes) const = 0;
  virtual void free(char* memory) const = 0;
  /// Pins memory of the host, which lies still then, for copies without a detour. Throws Failure{setup}.
  virtual void pin(char* memory, std::size_t bytes) const = 0;
  virtual void unpin(char* memory) const = 0;
  /// Both copies are complete when they return, whatever the host's memory is.
  virtual void to_device(char* to, std::span<const char> from) const = 0;
  virtual void to_host(std::span<char> to, const char* from) const = 0;
};

enum class Place { host, device, staged };

/// Option memory, of a transport over kit/messages.h.
contract::Option memory_option();

/// What a trial's blocks are made of.
struct Store {
  Place place = Place::host;
  std::shared_ptr<const Cuda> cuda = {};  // none where the place is the host

  /// options are complete; of a transport without option memory the place is the host. Throws
  /// Failure{unsupported} where a GPU is asked for and none can be used.
  static Store of(const contract::Options& options);
  bool on_device() const { return place == Place::device; }
};

/// A block of memory that a library sends from or receives into: of the device, or of the host,
/// where it is pinned if messages are staged.
class Block : Pinned {
 public:
  /// Throws Failure{setup} when there is not so much.
  Block(const Store& store, std::size_t bytes);
  ~Block();

  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  void write(std::span<const char> bytes);
  /// size bytes from at on, where the host can read them: until the next call.
  std::span<const char> read(std::size_t at, std::size_t size);

 private:
  Store store_;
  std::size_t size_;
  std::vector<char> host_;  // the block itself, or a copy of what was read from the device
  char* data_ = nullptr;
};

/// Copies of messages in blocks, made once for each: a flow's messages never change.
class BlockCopies {
 public:
  explicit BlockCopies(Store store) : store_(std::move(store)) {}
  /// The block that begins with a message's bytes. Throws Failure{setup}.
  Block& of(std::span<const char> message);

 private:
  struct Copy {
    const char* message;
    std::unique_ptr<Block> block;
  };
  Store store_;
  std::vector<Copy> copies_;  // a few: a flow repeats one block, and what is left of it
};

}  // namespace netdyno
