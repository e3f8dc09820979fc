#include <algorithm>
#include <tuple>

#include "kit/contract.h"
#include "verbs/card.h"

namespace netdyno::verbs {

using contract::ErrorKind;
using contract::Failure;

namespace {

using Pointers = std::vector<const Candidate*>;

/// Names without repetition, in order.
std::vector<std::string> devices_of(const std::vector<Candidate>& all) {
  std::vector<std::string> names;
  for (const Candidate& each : all) {
    if (std::find(names.begin(), names.end(), each.device) == names.end()) names.push_back(each.device);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

/// A list that is short enough for an error: "rxe0:1 gid 1 (10.77.0.1)".
std::string listed(const std::vector<Candidate>& all) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> words;
  for (const Candidate& each : all) {
    if (words.size() == kMost) {
      words.push_back("…");
      break;
    }
    words.push_back(port_name(each) + " gid " + std::to_string(each.gid_index) + " (" + text(each.gid) + ")");
  }
  return joined(words);
}

/// The better one first: RoCE version 2 can be routed, version 1 cannot.
int rank(const Candidate& candidate) {
  switch (candidate.kind) {
    case GidKind::roce2:
      return 0;
    case GidKind::infiniband:
      return 1;
    case GidKind::roce1:
      return 2;
  }
  return 3;
}

const Candidate* best(const Pointers& some) {
  const auto order = [](const Candidate* each) {
    // An address that was given comes before one that an interface made of itself.
    const bool made = text(each->gid).find(':') != std::string::npos;
    return std::tuple(!each->active, rank(*each), made);
  };
  const auto better = [&order](const Candidate* a, const Candidate* b) { return order(a) < order(b); };
  const auto found = std::min_element(some.begin(), some.end(), better);
  return found == some.end() ? nullptr : *found;
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

/// Those that the settings leave.
Pointers named(const std::vector<Candidate>& all, const Settings& settings) {
  Pointers some;
  for (const Candidate& each : all) {
    if (settings.device.empty() || each.device == settings.device) some.push_back(&each);
  }
  if (some.empty()) {
    const auto names = devices_of(all);
    const std::string near = contract::nearest(settings.device, names);
    throw Failure(ErrorKind::setup, "there is no RDMA device \"" + settings.device + "\" here" +
                                        (near.empty() ? "" : ", did you mean \"" + near + "\"?") +
                                        " There is " + joined(names));
  }
  if (settings.gid_index < 0) return some;
  Pointers at;
  for (const Candidate* each : some) {
    if (each->gid_index == static_cast<std::uint32_t>(settings.gid_index)) at.push_back(each);
  }
  if (at.empty()) {
    throw Failure(ErrorKind::setup, "no port has a GID at index " + std::to_string(settings.gid_index) +
                                        "; there is " + listed(all));
  }
  return at;
}

}  // namespace

const Candidate& choose(const std::vector<Candidate>& all, const Settings& settings, const Whereabouts& end) {
  const Pointers some = named(all, settings);
  Pointers fitting;
  Gid wanted{};
  const bool is_address = gid_of(end.address, wanted);
  for (const Candidate* each : some) {
    if (is_address && each->gid == wanted) fitting.push_back(each);
  }
  for (const Candidate* each : some) {
    if (fitting.empty() && !end.interface.empty() && each->interface == end.interface)
      fitting.push_back(each);
  }
  // Both ends of a loopback are on this host, and every port reaches itself.
  const bool any = is_loopback(end.address) || !settings.device.empty() || settings.gid_index >= 0;
  const Candidate* chosen = best(fitting.empty() && any ? some : fitting);
  if (chosen == nullptr) {
    throw Failure(ErrorKind::unsupported, "no RDMA port here carries address " + end.address + "; there is " +
                                              listed(all) + "; opt.device takes one all the same");
  }
  if (chosen->active) return *chosen;
  throw Failure(
      ErrorKind::setup,
      "port " + port_name(*chosen) + " is " + chosen->state + ", expected PORT_ACTIVE" +
          (chosen->interface.empty() ? "; see ibv_devinfo"
                                     : "; ip link set " + chosen->interface + " up, and look at its cable"));
}

std::uint32_t mtu_on(const Candidate& port, const Settings& settings) {
  if (settings.mtu_bytes == 0) return port.mtu_bytes;
  if (settings.mtu_bytes <= port.mtu_bytes) return settings.mtu_bytes;
  throw Failure(ErrorKind::setup,
                "opt.mtu is " + std::to_string(settings.mtu_bytes) + ", but port " + port_name(port) +
                    " carries " + std::to_string(port.mtu_bytes) +
                    " bytes; RoCE takes the largest of 256, 512, 1024, 2048 and 4096 that fits "
                    "into the interface's MTU");
}

std::string port_name(const Candidate& candidate) {
  return candidate.device + ":" + std::to_string(candidate.port);
}

}  // namespace netdyno::verbs
