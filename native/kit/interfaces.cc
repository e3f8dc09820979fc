#include "kit/interfaces.h"

#include <ifaddrs.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "kit/address.h"
#include "kit/contract.h"

namespace netdyno {

std::string interface_of(const std::string& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> keep(list, &freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    Endpoint at;
    at.size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&at.storage, each->ifa_addr, at.size);
    if (at.address().host == address) return each->ifa_name;
  }
  return {};
}

void show_interface(const std::string& name) {
  if (access(("/sys/class/net/" + name).c_str(), F_OK) == 0) return;
  // Without the second step, the new mount would show in everybody's mounts.
  if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      mount("sysfs", "/sys", "sysfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) {
    return;
  }
  throw contract::Failure(contract::ErrorKind::unsupported,
                          "show interface " + name +
                              " in /sys: it shows another network namespace, and mounting "
                              "this one's: " +
                              std::generic_category().message(errno));
}

}  // namespace netdyno
