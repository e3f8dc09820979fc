#include "kit/cuda.h"

#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "kit/contract.h"

namespace netdyno {

using contract::ErrorKind;
using contract::Failure;

namespace {

// CUDA's driver interface as far as it is used; its binary form is stable ("CUDA Driver
// API", sections Initialization, Device, Primary Context, Memory Management).
using Status = int;
using Device = int;
using Context = void*;
using Pointer = std::uint64_t;
constexpr Status kSuccess = 0;

/// The driver's library: its functions by name.
class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)) {
    if (library_ != nullptr) return;
    throw Failure(ErrorKind::unsupported, "option memory is cuda: " + std::string(dlerror()));
  }

  template <class... Arguments>
  void call(const char* function, Arguments... arguments) const {
    const Status status = find<Status(Arguments...)>(function)(arguments...);
    if (status == kSuccess) return;
    const char* text = nullptr;
    find<Status(Status, const char**)>("cuGetErrorString")(status, &text);
    throw Failure(ErrorKind::unsupported, std::string("option memory is cuda: ") + function + ": " +
                                              (text == nullptr ? std::to_string(status) : text));
  }

 private:
  template <class Signature>
  Signature* find(const char* function) const {
    void* found = dlsym(library_, function);
    if (found != nullptr) return reinterpret_cast<Signature*>(found);
    throw Failure(ErrorKind::unsupported,
                  std::string("option memory is cuda: libcuda.so.1 has no ") + function);
  }

  void* library_;  // for the life of the process: the library measured uses it too
};

class FirstDevice final : public Cuda {
 public:
  FirstDevice() {
    driver_.call("cuInit", 0U);
    int devices = 0;
    driver_.call("cuDeviceGetCount", &devices);
    if (devices == 0) throw Failure(ErrorKind::unsupported, "option memory is cuda: this host has no GPU");
    driver_.call("cuDeviceGet", &device_, 0);
    driver_.call("cuDevicePrimaryCtxRetain", &context_, device_);
    use();
  }

  void use() const override {
    thread_local Context used = nullptr;
    if (used == context_) return;
    driver_.call("cuCtxSetCurrent", context_);
    used = context_;
  }
  char* allocate(std::size_t bytes) const override {
    Pointer memory = 0;
    driver_.call("cuMemAlloc_v2", &memory, bytes);
    return reinterpret_cast<char*>(memory);
  }
  void free(char* memory) const override { driver_.call("cuMemFree_v2", address(memory)); }
  void to_device(char* to, std::span<const char> from) const override {
    driver_.call("cuMemcpyHtoD_v2", address(to), static_cast<const void*>(from.data()), from.size());
  }
  void to_host(std::span<char> to, const char* from) const override {
    driver_.call("cuMemcpyDtoH_v2", static_cast<void*>(to.data()), address(from), to.size());
  }

 private:
  static Pointer address(const char* memory) { return reinterpret_cast<Pointer>(memory); }

  Driver driver_;
  Device device_ = 0;
  Context context_ = nullptr;
};

}  // namespace

std::shared_ptr<const Cuda> Cuda::first_device() { return std::make_shared<FirstDevice>(); }

}  // namespace netdyno
