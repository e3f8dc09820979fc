#include "mpi/device_memory.h"

#include <dlfcn.h>
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "mpi/library.h"

namespace netdyno::mpi_worker {

namespace {

bool cuda_aware() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) || defined(MPICH_NUMVERSION)
  return MPIX_Query_cuda_support() != 0;
#else
  return false;
#endif
}

/// What the driver says: the number of GPUs, or why there is none.
std::string no_device() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return "there is no libcuda.so.1 here, which comes with the driver of a GPU";
  using Init = int (*)(unsigned);
  using Count = int (*)(int*);
  const auto init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<Count>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count == nullptr) return "libcuda.so.1 has no cuInit or no cuDeviceGetCount";
  if (const int code = init(0); code != 0) return "cuInit failed with CUDA error " + std::to_string(code);
  if (count(&devices) != 0 || devices == 0) return "the CUDA driver finds no device";
  return "";
}

}  // namespace

std::string device_memory_lacks() {
  const std::string named = library_name() + " " + library_version();
  if (!cuda_aware()) return "this " + named + " is not CUDA-aware (MPIX_Query_cuda_support says 0)";
  const std::string lack = no_device();
  return lack.empty() ? "this worker does not allocate from a GPU's memory yet" : lack;
}

}  // namespace netdyno::mpi_worker
