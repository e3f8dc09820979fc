// Open MPI 4.
#include <link.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <string_view>

#include "kit/address.h"
#include "mpi/environment.h"
#include "mpi/rank.h"

#if OMPI_MAJOR_VERSION != 4
#error \
    "Open MPI 4 is expected: its component for Flux, by which ranks start without mpirun, is gone from 5 on"
#endif

namespace netdyno::mpi_worker {

namespace {

namespace fs = std::filesystem;

/// The version of the library that is loaded, such as "4.1.4".
std::string loaded_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int size = 0;
  MPI_Get_library_version(text.data(), &size);  // "Open MPI v4.1.4, package: …"
  const std::string_view all(text.data(), static_cast<std::size_t>(size));
  const std::size_t from = all.find(" v");
  if (from == std::string_view::npos) return "?";
  return std::string(all.substr(from + 2, all.find(',') - from - 2));
}

/// Files of the shared objects in this process whose names begin so.
std::set<std::string> loaded(const std::string& prefix) {
  struct Search {
    const std::string& prefix;
    std::set<std::string> found;
  } search{prefix, {}};
  const auto note = [](dl_phdr_info* object, std::size_t, void* out) {
    auto& [wanted, found] = *static_cast<Search*>(out);
    if (fs::path(object->dlpi_name).filename().string().starts_with(wanted)) found.insert(object->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &search);
  return search.found;
}

/// Whether the library has a component: a file in a directory beside it.
bool has_component(const std::string& name) {
  std::error_code none;
  for (const std::string& library : loaded("libmpi.so")) {
    const fs::path beside = fs::canonical(library, none).parent_path();
    for (const char* folder : {"openmpi/lib/openmpi3", "openmpi"}) {  // Debian's, and everybody else's
      if (fs::exists(beside / folder / ("mca_" + name + ".so"), none)) return true;
    }
  }
  return false;
}

std::string missing(const std::string& component) {
  return has_component(component) ? ""
                                  : "this Open MPI " + loaded_version() + " has no component " + component;
}

}  // namespace

std::string library_transport() { return "mpi"; }
std::string library_name() { return "Open MPI"; }
std::string library_version() { return loaded_version(); }

std::string library_lacks(const std::string& fabric) {
  if (!loaded_version().starts_with("4.")) {
    return "Open MPI " + loaded_version() + " is loaded, expected 4: ranks of others start by PMIx alone";
  }
  if (const std::string flux = missing("pmix_flux"); !flux.empty())
    return flux + ", by which its ranks start";
  if (fabric == "ucx" || fabric == "rdma") return missing("pml_ucx");
  if (fabric == "ofi") return missing("mtl_ofi");
  return "";
}

std::vector<std::pair<std::string, std::string>> library_environment(const Surroundings& around) {
  const std::string directory = make_directory();
  std::vector<std::pair<std::string, std::string>> list = {
      // Ranks start by PMI-1 in the library that the component for Flux loads; dlopen
      // takes an empty name for this program itself (pmi_calls.cc).
      {"FLUX_JOB_ID", "1"},
      {"FLUX_PMI_LIBRARY_PATH", ""},
      {"OMPI_MCA_pmix", "flux"},
      // No rank pins threads: the meter has set the CPUs.
      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
      {"OMPI_MCA_btl_base_warn_component_unused", "0"},
      {"OMPI_MCA_orte_tmpdir_base", directory},
      {"OMPI_MCA_btl_vader_backing_directory", directory},
      {"OMPI_MCA_btl_tcp_if_include", around.interface},
  };
  const auto add = [&list](const char* name, const std::string& value) {
    list.emplace_back(std::string("OMPI_MCA_") + name, value);
  };
  if (around.fabric == "tcp" || around.fabric == "shm") {
    add("pml", "ob1");
    add("btl", around.fabric == "tcp" ? "tcp,self" : "vader,self");
  } else if (around.fabric == "ucx" || around.fabric == "rdma") {
    show_interface(around.interface);
    add("pml", "ucx");
    add("pml_ucx_tls", "any");  // else it refuses itself where there is no InfiniBand
    add("pml_ucx_devices", "any");
    if (around.fabric == "rdma") {
      std::ranges::move(ucx_by_rdma(around.interface), std::back_inserter(list));
    } else if (!around.one_node) {
      list.emplace_back("UCX_TLS", kUcxApart);
    }
  } else if (around.fabric == "ofi") {
    // Its providers listen, too.
    for (const char* name : {"FI_TCP_IFACE", "FI_SOCKETS_IFACE"}) list.emplace_back(name, around.interface);
    add("pml", "cm");
    add("mtl", "ofi");
    add("mtl_ofi_provider_exclude", "shm");  // by default it also excludes what runs over sockets
  }
  if (around.fabric != "rdma") list.emplace_back("UCX_NET_DEVICES", ucx_devices(around.interface));
  return list;
}

/// Open MPI keeps those components in memory that it uses. Which of the btl moves
/// messages to the other rank, pml ob1 alone knows.
std::string library_path() {
  std::string path;
  for (const char* kind : {"mca_pml_", "mca_mtl_", "mca_btl_"}) {
    if (std::string_view(kind) == "mca_btl_" && path != "pml ob1") break;
    for (const std::string& file : loaded(kind)) {
      std::string part = fs::path(file).stem().string().substr(4);  // "btl_tcp"
      part[part.find('_')] = ' ';
      if (part != "btl self") path += (path.empty() ? "" : ", ") + part;
    }
  }
  return path;
}

}  // namespace netdyno::mpi_worker
