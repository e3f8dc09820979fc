// What the environment tells UCX, on which both MPI libraries can move messages.
//
// Layer: above rdma_port. Plain functions; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mpi/rdma_port.h"

namespace netdyno::mpi_worker {

/// UCX_TLS of ends with two addresses. UCX sees that two network namespaces are on one
/// kernel, and would share its memory.
inline constexpr const char* kUcxApart = "^posix,sysv,cma";

/// UCX by RDMA alone, on the device of an interface if that has one.
inline std::vector<std::pair<std::string, std::string>> ucx_by_rdma(const std::string& interface) {
  std::vector<std::pair<std::string, std::string>> list = {{"UCX_TLS", "ib,self"}};
  const std::string port = rdma_port_of(interface);
  if (!port.empty()) list.emplace_back("UCX_NET_DEVICES", port);
  return list;
}

}  // namespace netdyno::mpi_worker
