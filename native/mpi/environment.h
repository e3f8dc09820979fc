// The process's environment and its host, as MPI libraries and UCX look at them.
//
// Layer: above kit. Not while another thread reads the environment.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace netdyno::mpi_worker {

/// Removes what would make an MPI library believe that somebody else started it (Slurm,
/// mpirun, Flux), or change what a trial asks of it (OMPI_MCA_*, MPIR_CVAR_*, UCX_TLS,
/// UCX_NET_DEVICES). What describes the hardware stays: UCX_IB_GID_INDEX, FI_*, PSM2_*.
void clear_environment();

/// The two addresses of a connected socket, without ports.
struct Ends {
  std::string own;
  std::string other;
};
/// Throws Failure{peer} when the socket is not connected any more.
Ends ends_of(int control);

/// Makes this process's directory for files that both ranks map: in memory, or where
/// that cannot be, on disk. First removes those that processes left behind which were
/// killed while they started. Throws Failure{setup}.
std::string make_directory();
/// Removes it with all that is in it, if it is there.
void remove_directory();

/// Where the kernel shows RDMA devices.
inline constexpr const char* kRdmaDevices = "/sys/class/infiniband";

/// Whether there is any RDMA device.
bool has_rdma(const std::filesystem::path& devices = kRdmaDevices);

/// The port that belongs to a network interface, as UCX names it: "mlx5_0:1". Empty when
/// none does.
std::string rdma_port_of(const std::string& interface, const std::filesystem::path& devices = kRdmaDevices);

/// UCX_TLS of ends with two addresses. UCX sees that two network namespaces are on one
/// kernel, and would share its memory.
inline constexpr const char* kUcxApart = "^posix,sysv,cma";

/// UCX_NET_DEVICES of an interface: it, and its port of an RDMA device if it has one. UCX would
/// else listen on every interface.
inline std::string ucx_devices(const std::string& interface) {
  const std::string port = rdma_port_of(interface);
  return port.empty() ? interface : interface + "," + port;
}

/// UCX by RDMA alone, on the device of an interface if that has one.
inline std::vector<std::pair<std::string, std::string>> ucx_by_rdma(const std::string& interface) {
  std::vector<std::pair<std::string, std::string>> list = {{"UCX_TLS", "ib,self"}};
  const std::string port = rdma_port_of(interface);
  if (!port.empty()) list.emplace_back("UCX_NET_DEVICES", port);
  return list;
}

/// From now on, a SIGABRT of this process first calls let_client_be_named. control is a
/// socket to the client that stays open until the process ends.
void watch_client(int control);

/// What a rank does when the library ends the process because the other rank is gone. The bench
/// takes a server that ends for the cause of what its clients say, and MPI's libraries abort when
/// a peer is lost: a killed client would be recorded as a server that failed. So a server whose
/// client is gone stays for as long as the bench needs to name that. Safe in a signal handler.
/// Returns at once if watch_client was not called or the client is there; otherwise
/// after 3 s.
void let_client_be_named();

}  // namespace netdyno::mpi_worker
