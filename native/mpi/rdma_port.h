// This host's RDMA ports, as the kernel shows them.
//
// Layer: bottom. Plain functions; any thread.
#pragma once

#include <filesystem>
#include <string>

namespace netdyno::mpi_worker {

/// Where the kernel shows RDMA devices.
inline constexpr const char* kRdmaDevices = "/sys/class/infiniband";

/// Whether there is any RDMA device.
bool has_rdma(const std::filesystem::path& devices = kRdmaDevices);

/// The port that belongs to a network interface, as UCX names it: "mlx5_0:1". Empty when
/// none does.
std::string rdma_port_of(const std::string& interface, const std::filesystem::path& devices = kRdmaDevices);

}  // namespace netdyno::mpi_worker
