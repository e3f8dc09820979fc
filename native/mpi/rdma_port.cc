#include "mpi/rdma_port.h"

#include <fstream>
#include <system_error>

namespace netdyno::mpi_worker {

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
