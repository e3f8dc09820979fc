#include "kit/mix.h"

#include <string>

namespace netdyno {

Mix::Mix(const contract::Setup& setup) {
  const auto refuse = [](const std::string& text) {
    throw contract::Failure(contract::ErrorKind::setup, "load." + text);
  };
  contract::Table ends;
  for (const contract::Class& c : setup.load.classes) {
    const auto number = static_cast<std::int64_t>(ends.size());
    ends.push_back({c.end, number, number});
    const contract::Exchange& most = setup.exchange;
    if (c.up_bytes >= 0 && c.down_bytes >= 0 && c.up_bytes <= most.up_bytes &&
        c.down_bytes <= most.down_bytes)
      continue;
    refuse("classes[" + std::to_string(number) + "] has " + std::to_string(c.up_bytes) + " bytes up and " +
           std::to_string(c.down_bytes) + " down, and exchange at most " + std::to_string(most.up_bytes) +
           " and " + std::to_string(most.down_bytes));
  }
  const std::string wrong = contract::wrong_table(ends, contract::kMostClasses);
  if (!wrong.empty()) refuse("classes: their ends: " + wrong);
  classes_.emplace(ends, setup.seed, Drawer::kClasses);
  if (setup.load.keys.empty()) return;
  const std::string wrong_keys = contract::wrong_table(setup.load.keys, contract::kMostKey);
  if (!wrong_keys.empty()) refuse("keys: " + wrong_keys);
  keys_.emplace(setup.load.keys, setup.seed, Drawer::kKeys);
}

}  // namespace netdyno
