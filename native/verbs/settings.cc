#include "verbs/settings.h"

#include "kit/options.h"

namespace netdyno::verbs {

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::send:
      return "send";
    case Operation::write:
      return "write";
    case Operation::read:
      return "read";
  }
  return "unknown";
}

Settings Settings::of(const contract::Json& options) {
  Settings settings;
  const auto operation = options.at("operation").get<std::string>();
  for (const Operation each : {Operation::send, Operation::write, Operation::read}) {
    if (operation == name(each)) settings.operation = each;
  }
  settings.inline_bytes = options.at("inline").get<std::uint32_t>();
  settings.window = options.at("window").get<std::uint32_t>();
  settings.waits = options.at("wait") == "event";
  if (const auto device = options.at("device").get<std::string>(); device != "auto") settings.device = device;
  settings.gid_index = options.at("gid_index").get<int>();
  if (const auto mtu = options.at("mtu").get<std::string>(); mtu != "auto") {
    settings.mtu_bytes = static_cast<std::uint32_t>(std::stoul(mtu));
  }
  return settings;
}

std::vector<contract::Option> setting_options() {
  return {
      choice_option(
          "operation", {"send", "write", "read"},
          "how a message travels: sent into a posted buffer, written into the receiver's ring with an "
          "immediate, or announced and read by the receiver; both ends must agree"),
      choice_option(
          "wait", {"poll", "event"},
          "what a thread does with nothing to do: ask the completion queue again, or sleep until the "
          "card's event"),
      integer_option(
          "window", {64, 1, 4096},
          "messages outstanding on a connection; fewer where 64 MiB of receive buffers hold fewer"),
      bytes_option("inline", {64, 0, 4096},
                   "messages up to this size go to the card with the request itself"),
      text_option("device", "auto",
                  "RDMA device, as ibv_devices names it; auto takes the one of the trial's address"),
      integer_option("gid_index", {-1, -1, 255},
                     "index of the port's GID; -1 takes the one of the trial's address"),
      choice_option("mtu", {"auto", "256", "512", "1024", "2048", "4096"},
                    "bytes of a packet's payload; auto takes the port's"),
  };
}

}  // namespace netdyno::verbs
