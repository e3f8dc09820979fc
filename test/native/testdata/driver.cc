// Stands in for CUDA's driver in tests, and nowhere else: its "device" is
// memory that this process cannot touch, and that only the driver's own copies
// reach. A copy is done when its stream is waited for, so that who forgets to
// wait reads what was there before. $STANDIN_REACHABLE lets the process touch
// the device, as a library does that was built with CUDA; $STANDIN_COUNTS is a
// directory in which each process counts in a file of its name.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

enum Status { kSuccess = 0, kInvalid = 1, kOutOfMemory = 2, kNoContext = 201 };

struct Counts {  // read by the test, in this order
  std::uint64_t to_device, to_device_bytes, to_host, to_host_bytes, from_or_to_unpinned;
};

struct Memory {
  std::size_t bytes;
  char *content;  // where the driver reaches it
};

struct Copy {
  char *to;
  const char *from;
  std::size_t bytes;
};

int the_context;
thread_local void *current = nullptr;
std::mutex mutex;
std::map<char *, Memory> device;
std::map<char *, std::size_t> pinned;
std::vector<Copy> queue;

Counts &counts() {
  static Counts *const shared = [] {
    static Counts nowhere;
    const char *directory = std::getenv("STANDIN_COUNTS");
    if (directory == nullptr) return &nowhere;
    const std::string path = std::string(directory) + "/" + std::to_string(getpid());
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(Counts)) != 0) std::abort();
    return static_cast<Counts *>(mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  }();
  return *shared;
}

/// Where the driver reaches bytes of the device; null when they are not all one
/// allocation's.
char *reached(std::uint64_t address, std::size_t bytes) {
  char *const at = reinterpret_cast<char *>(address);
  auto behind = device.upper_bound(at);
  if (behind == device.begin()) return nullptr;
  const auto &[begin, memory] = *--behind;
  const auto offset = static_cast<std::size_t>(at - begin);
  return offset + bytes > memory.bytes ? nullptr : memory.content + offset;
}

bool is_pinned(const char *host, std::size_t bytes) {
  auto behind = pinned.upper_bound(const_cast<char *>(host));
  if (behind == pinned.begin()) return false;
  const auto &[begin, size] = *--behind;
  return static_cast<std::size_t>(host - begin) + bytes <= size;
}

int enqueue(char *to, const char *from, std::size_t bytes, const char *host) {
  if (current == nullptr) return kNoContext;
  if (to == nullptr || from == nullptr) return kInvalid;
  if (!is_pinned(host, bytes)) counts().from_or_to_unpinned++;
  queue.push_back({to, from, bytes});
  return kSuccess;
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) { return flags == 0 ? kSuccess : kInvalid; }
int cuDeviceGetCount(int *count) { return *count = 1, kSuccess; }
int cuDeviceGet(int *one, int ordinal) { return *one = 7, ordinal == 0 ? kSuccess : kInvalid; }
int cuDevicePrimaryCtxRetain(void **context, int one) {
  return *context = &the_context, one == 7 ? kSuccess : kInvalid;
}
int cuCtxSetCurrent(void *context) {
  return current = context, context == &the_context ? kSuccess : kInvalid;
}

int cuMemAlloc_v2(std::uint64_t *address, std::size_t bytes) {
  if (current == nullptr) return kNoContext;
  const std::lock_guard lock(mutex);
  const int fd = memfd_create("device", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return kOutOfMemory;
  const int reach = std::getenv("STANDIN_REACHABLE") != nullptr ? PROT_READ | PROT_WRITE : PROT_NONE;
  void *const seen = mmap(nullptr, bytes, reach, MAP_SHARED, fd, 0);
  void *const content = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (seen == MAP_FAILED || content == MAP_FAILED) return kOutOfMemory;
  device[static_cast<char *>(seen)] = {bytes, static_cast<char *>(content)};
  *address = reinterpret_cast<std::uint64_t>(seen);
  return kSuccess;
}

int cuMemFree_v2(std::uint64_t address) {
  const std::lock_guard lock(mutex);
  const auto found = device.find(reinterpret_cast<char *>(address));
  if (found == device.end()) return kInvalid;
  munmap(found->first, found->second.bytes);
  munmap(found->second.content, found->second.bytes);
  device.erase(found);
  return kSuccess;
}

int cuPointerSetAttribute(const void *value, int attribute, std::uint64_t address) {
  const std::lock_guard lock(mutex);
  const bool on = *static_cast<const unsigned *>(value) == 1 && attribute == 6;
  return on && reached(address, 1) != nullptr ? kSuccess : kInvalid;
}

int cuMemHostRegister_v2(void *memory, std::size_t bytes, unsigned) {
  const std::lock_guard lock(mutex);
  return pinned.emplace(static_cast<char *>(memory), bytes).second ? kSuccess : kInvalid;
}

int cuMemHostUnregister(void *memory) {
  const std::lock_guard lock(mutex);
  return pinned.erase(static_cast<char *>(memory)) == 1 ? kSuccess : kInvalid;
}

int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void *from, std::size_t bytes, void *stream) {
  const std::lock_guard lock(mutex);
  counts().to_device++;
  counts().to_device_bytes += bytes;
  const char *host = static_cast<const char *>(from);
  return stream == nullptr ? enqueue(reached(to, bytes), host, bytes, host) : kInvalid;
}

int cuMemcpyDtoHAsync_v2(void *to, std::uint64_t from, std::size_t bytes, void *stream) {
  const std::lock_guard lock(mutex);
  counts().to_host++;
  counts().to_host_bytes += bytes;
  char *host = static_cast<char *>(to);
  return stream == nullptr ? enqueue(host, reached(from, bytes), bytes, host) : kInvalid;
}

int cuStreamSynchronize(void *stream) {
  const std::lock_guard lock(mutex);
  for (const Copy &copy : queue) std::memcpy(copy.to, copy.from, copy.bytes);
  queue.clear();
  return stream == nullptr ? kSuccess : kInvalid;
}

int cuGetErrorString(int status, const char **text) {
  *text = status == kNoContext ? "no context is current" : "the stand-in refuses";
  return kSuccess;
}

/// As an MPI library says it that was built with CUDA. It is preloaded where
/// that is to be seen.
int MPIX_Query_cuda_support() { return 1; }
}
