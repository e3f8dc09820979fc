#include "ucx/lanes.h"

#include <algorithm>
#include <vector>

namespace netdyno::ucx {
namespace {

/// Lanes are few; more than these are not looked for.
constexpr std::size_t kMaxLanes = 32;

/// A lane's line is "lane[0]:  1:tcp/lo.0 md[1]  -> md[1]/tcp/sysdev[255] am …".
/// Returns "tcp/lo".
std::string_view resource_of(std::string_view line) {
  const auto lane = line.find("lane[");
  if (lane == line.npos) return {};
  const auto colon = line.find("]:", lane);
  if (colon == line.npos) return {};
  auto rest = line.substr(colon + 2);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  rest = rest.substr(0, rest.find(' '));
  const auto number = rest.find(':');
  if (number == rest.npos) return {};
  rest.remove_prefix(number + 1);
  const auto path = rest.rfind('.');  // the number of the path on the device
  return path == rest.npos ? rest : rest.substr(0, path);
}

}  // namespace

std::string lanes_of(std::string_view printed) {
  std::vector<std::string_view> found;
  while (!printed.empty() && found.size() < kMaxLanes) {
    const auto end = std::min(printed.find('\n'), printed.size());
    const auto resource = resource_of(printed.substr(0, end));
    printed.remove_prefix(std::min(end + 1, printed.size()));
    if (!resource.empty() && std::find(found.begin(), found.end(), resource) == found.end()) {
      found.push_back(resource);
    }
  }
  std::string lanes;
  for (const auto resource : found) lanes.append(lanes.empty() ? "" : " ").append(resource);
  return lanes;
}

}  // namespace netdyno::ucx
