#include "verbs/reasons.h"

#include <sys/resource.h>

#include <filesystem>
#include <system_error>

namespace netdyno::verbs {

namespace fs = std::filesystem;

std::string reason_of(const ibv_wc& completion) {
  std::string advice;
  switch (completion.status) {
    case IBV_WC_RETRY_EXC_ERR:
      advice =
          ": the other end did not acknowledge; it is gone, or the network drops its packets (wrong GID, MTU "
          "too large for a switch, no flow control)";
      break;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      advice = ": the receiver had posted no buffer";
      break;
    case IBV_WC_REM_ACCESS_ERR:
      advice = ": the other end does not open this memory";
      break;
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
      advice = ": a message was longer than the receiver's buffer";
      break;
    case IBV_WC_WR_FLUSH_ERR:
      advice = ": the queue pair had failed before";
      break;
    default:
      break;
  }
  return std::string(ibv_wc_status_str(completion.status)) + advice + " (status " +
         std::to_string(completion.status) + ", vendor's error " + std::to_string(completion.vendor_err) +
         ")";
}

std::string reason_of(const Refused& refused) {
  std::string out = "register " + std::to_string(refused.bytes) +
                    " bytes of memory: " + std::generic_category().message(refused.code);
  const bool bounded = refused.limit != RLIM_INFINITY;
  if (refused.code != ENOMEM || !bounded) return out;
  return out + "; this process may lock " + std::to_string(refused.limit) + " bytes (ulimit -l) and has " +
         std::to_string(refused.held) +
         " registered; ulimit -l unlimited raises it, for good \"* - memlock unlimited\" in "
         "/etc/security/limits.conf, or LimitMEMLOCK=infinity in the service's unit";
}

std::string why_no_device(const std::string& root) {
  std::error_code none;  // what is not there has no entries
  const fs::path classes = fs::path(root) / "sys/class/infiniband";
  if (!fs::exists(classes, none)) {
    return "no RDMA device here: /sys/class/infiniband does not exist, so this kernel has no RDMA, or has "
           "not loaded "
           "ib_core";
  }
  if (fs::directory_iterator(classes, none) == fs::directory_iterator()) {
    return "no RDMA device here: /sys/class/infiniband is empty; a card's driver may not be loaded, and "
           "Soft-RoCE is "
           "made by: rdma link add rxe0 type rxe netdev INTERFACE";
  }
  if (!fs::exists(fs::path(root) / "dev/infiniband", none)) {
    return "no RDMA device can be opened: /sys/class/infiniband has some, but /dev/infiniband does not "
           "exist: modprobe "
           "ib_uverbs, or give the container its devices";
  }
  return "no RDMA device can be opened: /sys/class/infiniband has some, but libibverbs knows none of them; "
         "their "
         "providers are in package ibverbs-providers";
}

}  // namespace netdyno::verbs
