#include "kit/cuda.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kit/options.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

// CUDA's driver interface as far as it is used; its binary form is stable ("CUDA Driver
// API", sections Initialization, Device, Primary Context, Memory Management, Stream Management,
// Unified Addressing).
using Status = int;
using Device = int;
using Context = void*;
using Pointer = std::uint64_t;
using Stream = void*;
constexpr Status kSuccess = 0;
constexpr Stream kDefaultStream = nullptr;
constexpr unsigned kPortable = 1;    // CU_MEMHOSTREGISTER_PORTABLE: pinned for every context
constexpr int kSyncMemoryCalls = 6;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS

[[noreturn]] void missing(ErrorKind kind, const std::string& what) {
  throw Failure(kind, "option memory asks for a GPU: " + what);
}

/// The driver's library: its functions by name.
class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)) {
    if (library_ != nullptr) return;
    const std::string why = dlerror();
    const bool absent = why.find("No such file") != why.npos;
    missing(ErrorKind::unsupported, "no CUDA driver: " + (absent ? "libcuda.so.1 not found" : why));
  }

  /// A call whose failure means that no GPU can be used here.
  template <class... Arguments>
  void call(const char* function, Arguments... arguments) const {
    checked(ErrorKind::unsupported, function, arguments...);
  }
  /// A call of a GPU that can be used.
  template <class... Arguments>
  void later(const char* function, Arguments... arguments) const {
    checked(ErrorKind::setup, function, arguments...);
  }

 private:
  template <class... Arguments>
  void checked(ErrorKind kind, const char* function, Arguments... arguments) const {
    const Status status = find<Status(Arguments...)>(function)(arguments...);
    if (status == kSuccess) return;
    const char* text = nullptr;
    find<Status(Status, const char**)>("cuGetErrorString")(status, &text);
    missing(kind, std::string(function) + ": " + (text == nullptr ? std::to_string(status) : text));
  }

  template <class Signature>
  Signature* find(const char* function) const {
    void* found = dlsym(library_, function);
    if (found != nullptr) return reinterpret_cast<Signature*>(found);
    missing(ErrorKind::unsupported, std::string("libcuda.so.1 has no ") + function);
  }

  void* library_;  // for the life of the process: the library measured uses it too
};

class FirstDevice final : public Cuda {
 public:
  FirstDevice() {
    driver_.call("cuInit", 0U);
    int devices = 0;
    driver_.call("cuDeviceGetCount", &devices);
    if (devices == 0) missing(ErrorKind::unsupported, "CUDA's driver knows none on this host");
    driver_.call("cuDeviceGet", &device_, 0);
    driver_.call("cuDevicePrimaryCtxRetain", &context_, device_);
    use();
  }

  void use() const override {
    thread_local Context used = nullptr;
    if (used == context_) return;
    driver_.later("cuCtxSetCurrent", context_);
    used = context_;
  }
  char* allocate(std::size_t bytes) const override {
    use();
    Pointer memory = 0;
    driver_.later("cuMemAlloc_v2", &memory, bytes);
    // What the driver does with the memory is done when its call returns, so that a card that
    // reads it reads what was written ("GPUDirect RDMA", Synchronization and Memory Ordering).
    const unsigned on = 1;
    driver_.later("cuPointerSetAttribute", static_cast<const void*>(&on), kSyncMemoryCalls, memory);
    return reinterpret_cast<char*>(memory);
  }
  void free(char* memory) const override {
    use();
    driver_.later("cuMemFree_v2", address(memory));
  }
  void pin(char* memory, std::size_t bytes) const override {
    use();
    driver_.later("cuMemHostRegister_v2", static_cast<void*>(memory), bytes, kPortable);
  }
  void unpin(char* memory) const override {
    use();
    driver_.later("cuMemHostUnregister", static_cast<void*>(memory));
  }
  // From memory that is not pinned the plain call may return before the device has the bytes.
  void to_device(char* to, std::span<const char> from) const override {
    use();
    driver_.later("cuMemcpyHtoDAsync_v2", address(to), static_cast<const void*>(from.data()), from.size(),
                  kDefaultStream);
    driver_.later("cuStreamSynchronize", kDefaultStream);
  }
  void to_host(std::span<char> to, const char* from) const override {
    use();
    driver_.later("cuMemcpyDtoHAsync_v2", static_cast<void*>(to.data()), address(from), to.size(),
                  kDefaultStream);
    driver_.later("cuStreamSynchronize", kDefaultStream);
  }

 private:
  static Pointer address(const char* memory) { return reinterpret_cast<Pointer>(memory); }

  Driver driver_;
  Device device_ = 0;
  Context context_ = nullptr;
};

}  // namespace

std::shared_ptr<const Cuda> Cuda::first_device() { return std::make_shared<FirstDevice>(); }

contract::Option memory_option() {
  return choice_option("memory", {"host", "cuda", "cuda-staged"},
                       "where messages lie: in the host's memory; in the first GPU's, which the library "
                       "reaches itself; or in the GPU's, copied to and from pinned memory of the host "
                       "around each message");
}

Store Store::of(const contract::Options& options) {
  const std::string memory = options.value("memory", "host");
  Store store;
  store.place = memory == "cuda" ? Place::device : memory == "cuda-staged" ? Place::staged : Place::host;
  if (store.place != Place::host) store.cuda = Cuda::first_device();
  return store;
}

Block::Block(const Store& store, std::size_t bytes) : store_(store), size_(bytes) {
  if (store_.on_device()) {
    data_ = store_.cuda->allocate(bytes);
    return;
  }
  host_.resize(bytes);
  data_ = host_.data();
  if (store_.cuda) store_.cuda->pin(data_, size_);
}

Block::~Block() {
  try {
    if (store_.on_device()) {
      store_.cuda->free(data_);
    } else if (store_.cuda) {
      store_.cuda->unpin(data_);
    }
  } catch (const Failure&) {  // the driver is going, and takes the memory with it
  }
}

void Block::write(std::span<const char> bytes) {
  if (store_.on_device()) {
    store_.cuda->to_device(data_, bytes);
  } else {
    std::copy(bytes.begin(), bytes.end(), data_);
  }
}

std::span<const char> Block::read(std::size_t at, std::size_t size) {
  if (!store_.on_device()) return {data_ + at, size};
  host_.resize(size);
  store_.cuda->to_host(host_, data_ + at);
  return host_;
}

Block& BlockCopies::of(std::span<const char> message) {
  for (const Copy& copy : copies_) {
    if (copy.message == message.data() && message.size() <= copy.block->size()) return *copy.block;
  }
  auto block = std::make_unique<Block>(store_, message.size());
  block->write(message);
  copies_.push_back({message.data(), std::move(block)});
  return *copies_.back().block;
}

}  // namespace netdyno
