#include "mpi/environment.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <system_error>

#include "kit/address.h"
#include "kit/contract.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 14> kMisleading = {"OMPI_", "ORTE_", "OPAL_",  "PMIX_",     "PMI_",
                                                          "PMI2_", "PRTE_", "MPICH_", "MPIR_CVAR", "HYDRA_",
                                                          "HYDI_", "FLUX_", "SLURM",  "MPIEXEC_"};
constexpr std::array<std::string_view, 2> kOurs = {"UCX_TLS", "UCX_NET_DEVICES"};

std::string& directory() {
  static std::string path;
  return path;
}

/// Removes directories whose process, as their names tell, is no more.
void remove_stale(const char* parent, const std::string& prefix) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(parent, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    const std::string process = name.substr(prefix.size(), name.find('-', prefix.size()) - prefix.size());
    struct stat at {};  // another user's is not ours to remove
    if (lstat(entry.path().c_str(), &at) != 0 || at.st_uid != geteuid()) continue;
    if (!process.empty() && !fs::exists("/proc/" + process, none)) fs::remove_all(entry.path(), none);
  }
}

bool misleads(std::string_view name) {
  for (const std::string_view prefix : kMisleading) {
    if (name.starts_with(prefix)) return true;
  }
  return name == kOurs[0] || name == kOurs[1];
}

}  // namespace

void clear_environment() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; entry++) {
    const std::string_view text = *entry;
    if (misleads(text.substr(0, text.find('=')))) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

Ends ends_of(int control) {
  Endpoint own;
  Endpoint other;
  if (getsockname(control, own.get(), &own.size) != 0 ||
      getpeername(control, other.get(), &other.size) != 0) {
    throw Failure(ErrorKind::peer, "look at the control socket: " + std::generic_category().message(errno));
  }
  return {own.address().host, other.address().host};
}

std::string make_directory() {
  // Processes of other namespaces have numbers of their own.
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) != 0) space.st_ino = 0;
  const std::string prefix = "netdyno-mpi-" + std::to_string(space.st_ino) + "-";
  for (const char* parent : {"/dev/shm", "/tmp"}) {
    remove_stale(parent, prefix);
    std::string path = std::string(parent) + "/" + prefix + std::to_string(getpid()) + "-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) continue;
    directory() = path;
    return path;
  }
  throw Failure(ErrorKind::setup,
                "make a directory in /dev/shm or /tmp: " + std::generic_category().message(errno));
}

void remove_directory() {
  std::error_code none;
  if (!directory().empty()) fs::remove_all(std::exchange(directory(), {}), none);
}

namespace {

std::atomic<int> client{-1};

/// A dying process is gone for the library before its sockets are closed.
constexpr int kClosingMs = 200;
/// The bench waits 2 s for the server's own end before it names the client.
constexpr int kNamingMs = 3000;

}  // namespace

void watch_client(int control) {
  client = control;
  std::signal(SIGABRT, [](int) { let_client_be_named(); });
}

void let_client_be_named() {
  pollfd ask{client, POLLRDHUP, 0};
  if (ask.fd < 0 || poll(&ask, 1, kClosingMs) <= 0) return;
  poll(nullptr, 0, kNamingMs);
}

namespace fs = std::filesystem;

bool has_rdma(const fs::path& devices) {
  std::error_code none;  // a directory that is not there has no entries
  return fs::directory_iterator(devices, none) != fs::directory_iterator();
}

std::string rdma_port_of(const std::string& interface, const fs::path& devices) {
  std::error_code none;
  for (const auto& device : fs::directory_iterator(devices, none)) {
    for (const auto& port : fs::directory_iterator(device.path() / "ports", none)) {
      std::string name;
      std::ifstream(port.path() / "gid_attrs/ndevs/0") >> name;
      if (name == interface) return device.path().filename().string() + ":" + port.path().filename().string();
    }
  }
  return {};
}

}  // namespace netdyno::mpi_worker
