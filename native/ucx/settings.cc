#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "kit/address.h"
#include "kit/options.h"
#include "ucx/context.h"

namespace netdyno::ucx {

using contract::ErrorKind;
using contract::Failure;

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kOperations = {"tag", "stream", "put", "get"};
constexpr int kMaxLoops = 256;
constexpr std::size_t kMaxEnvironment = 1'000;

/// Whether a port of an RDMA device sends through an interface.
bool belongs(const fs::path& port, const std::string& interface) {
  std::error_code none;  // a directory that is not there has no entries
  for (const auto& entry : fs::directory_iterator(port / "gid_attrs/ndevs", none)) {
    std::string name;
    if (std::ifstream(entry.path()) >> name && name == interface) return true;
  }
  return false;
}

bool has_rdma() {
  std::error_code none;
  return fs::directory_iterator("/sys/class/infiniband", none) != fs::directory_iterator();
}

}  // namespace

std::vector<contract::Option> setting_options() {
  return {
      choice_option("operation", {kOperations.begin(), kOperations.end()},
                    "what carries a message: tag matching, a byte stream, a put into the receiver's memory, "
                    "or a get from the sender's"),
      choice_option("tls", {"auto", "tcp", "shm", "rdma"},
                    "the transports that UCX may use (UCX_TLS); another way than asked for fails the "
                    "trial"),
      memory_option(),
      choice_option("wait", {"poll", "event"}, "how an idle worker waits: busy, or asleep until an event"),
      integer_option("window", {64, 1, 4096}, "messages outstanding at a time, per connection")};
}

std::string name(Operation operation) { return kOperations[static_cast<std::size_t>(operation)]; }

Settings Settings::of(const contract::Options& options) {
  Settings settings;
  const std::string operation = options.at("operation").get<std::string>();
  const auto found = std::find(kOperations.begin(), kOperations.end(), operation);
  settings.operation = static_cast<Operation>(found - kOperations.begin());
  settings.tls = options.at("tls").get<std::string>();
  settings.cuda = options.at("memory") == "cuda";
  settings.event = options.at("wait") == "event";
  settings.window = options.at("window").get<std::uint32_t>();
  return settings;
}

MessageDemands demands(const Settings& settings) {
  MessageDemands demands;
  demands.max_loops = kMaxLoops;
  if (settings.tls != "auto") demands.over = settings.tls;
  if (settings.cuda) {
    // Copies between devices move no counter that is read; UCX's own words name them.
    demands.unseen = "unknown";
    if (settings.tls == "shm") demands.over.clear();
  }
  return demands;
}

std::vector<std::string> devices_of(const std::string& host) {
  const std::string interface = interface_of(host);
  if (interface.empty()) return {};
  std::vector<std::string> devices = {interface};
  std::error_code none;
  for (const auto& device : fs::directory_iterator("/sys/class/infiniband", none)) {
    for (const auto& port : fs::directory_iterator(device.path() / "ports", none)) {
      if (!belongs(port.path(), interface)) continue;
      devices.push_back(device.path().filename().string() + ":" + port.path().filename().string());
    }
  }
  return devices;
}

std::vector<std::pair<std::string, std::string>> configuration(const Settings& settings,
                                                               const std::vector<std::string>& devices) {
  std::string tls = settings.tls == "auto" ? "all" : settings.tls == "rdma" ? "ib" : settings.tls;
  if (settings.tls == "rdma" && !has_rdma()) {
    throw Failure(ErrorKind::unsupported, "option tls is rdma: no RDMA device on this host");
  }
  // UCX's cuda is cuda_copy, cuda_ipc and gdr_copy; by cuda_ipc two ends on one host would leave
  // the way that was asked for.
  if (settings.cuda && settings.tls == "shm") tls += ",cuda";
  if (settings.cuda && (settings.tls == "tcp" || settings.tls == "rdma")) tls += ",cuda_copy,gdr_copy";
  std::string list;
  for (const std::string& device : devices) list += (list.empty() ? "" : ",") + device;
  return {{"TLS", tls}, {"NET_DEVICES", list.empty() ? "all" : list}};
}

std::string environment() {
  std::string found;
  for (char** at = environ; at != nullptr && *at != nullptr; at++) {
    if (!std::string_view(*at).starts_with("UCX_")) continue;
    found += (found.empty() ? "" : " ") + std::string(*at);
  }
  if (found.size() > kMaxEnvironment) found.resize(kMaxEnvironment);
  std::replace_if(
      found.begin(), found.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return found;
}

}  // namespace netdyno::ucx
