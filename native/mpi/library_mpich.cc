// MPICH 4 on its device ch4.
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "kit/address.h"
#include "mpi/environment.h"
#include "mpi/rank.h"

namespace netdyno::mpi_worker {

namespace {

/// What the library says of itself after a heading, to the end of the line.
std::string said(const std::string& heading) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int size = 0;
  MPI_Get_library_version(text.data(), &size);  // lines "MPICH Version:\t4.0.2", "MPICH Device:\tch4:ucx", …
  const std::string_view all(text.data(), static_cast<std::size_t>(size));
  std::size_t from = all.find(heading);
  if (from == std::string_view::npos) return "?";
  from = all.find_first_not_of(" \t", from + heading.size());
  if (from == std::string_view::npos) return "?";
  return std::string(all.substr(from, all.find('\n', from) - from));
}

std::string device() { return said("MPICH Device:"); }

}  // namespace

std::string library_transport() { return "mpich"; }
std::string library_name() { return "MPICH"; }
std::string library_version() { return said("MPICH Version:") + " " + device(); }

std::string library_lacks(const std::string& fabric) {
  if (device() == "ch4:ucx") return fabric == "ofi" ? "this MPICH was built on ch4:ucx alone" : "";
  if (device() == "ch4:ofi" && (fabric == "auto" || fabric == "ofi")) return "";
  return "this MPICH was built on " + device() + ", expected ch4:ucx";
}

std::vector<std::pair<std::string, std::string>> library_environment(const Surroundings& around) {
  if (device() == "ch4:ucx" && around.fabric != "shm") show_interface(around.interface);
  std::vector<std::pair<std::string, std::string>> list;
  if (around.fabric == "tcp") {
    // Its own shared memory, below UCX, too.
    list.emplace_back("MPIR_CVAR_NOLOCAL", "1");
    list.emplace_back("UCX_TLS", "tcp,self");
  } else if (around.fabric == "shm") {
    list.emplace_back("UCX_TLS", "posix,sysv,cma,self");
  } else if (around.fabric == "rdma") {
    list = ucx_by_rdma(around.interface);
  } else if (!around.one_node) {
    list.emplace_back("UCX_TLS", kUcxApart);
  }
  if (around.fabric != "rdma") list.emplace_back("UCX_NET_DEVICES", ucx_devices(around.interface));
  return list;
}

std::string library_path() {
  const char* transports = std::getenv("UCX_TLS");
  return device() + (transports == nullptr ? "" : ", UCX_TLS=" + std::string(transports));
}

}  // namespace netdyno::mpi_worker
