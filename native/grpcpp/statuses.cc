#include "grpcpp/statuses.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace netdyno::grpc_worker {

using contract::ErrorKind;

namespace {

constexpr int kCancelled = 1;
constexpr int kDeadlineExceeded = 4;
constexpr int kUnavailable = 14;

}  // namespace

ErrorKind kind_of(int code) {
  switch (code) {
    case kUnavailable:
    case kCancelled:
      return ErrorKind::peer;
    case kDeadlineExceeded:
      return ErrorKind::timeout;
    default:
      return ErrorKind::invalid;
  }
}

std::string status_text(int code, const std::string& message) {
  constexpr std::array<std::string_view, 17> kNames = {
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  const auto at = static_cast<std::size_t>(code);
  const std::string name =
      at < kNames.size() ? std::string(kNames[at]) : "Code(" + std::to_string(code) + ")";
  return message.empty() ? name : name + ": " + message;
}

}  // namespace netdyno::grpc_worker
