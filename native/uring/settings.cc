#include "uring/settings.h"

#include <string>

#include "kit/options.h"

namespace netdyno::uring_worker {

using contract::Json;
using contract::Option;

Settings Settings::of(const Json& options) {
  Settings settings;
  settings.entries = options.at("entries").get<unsigned>();
  settings.sqpoll = options.at("sqpoll").get<bool>();
  settings.multishot = options.at("recv").get<std::string>() == "multishot";
  settings.zero_copy = options.at("send").get<std::string>() == "zerocopy";
  return settings;
}

std::vector<Option> setting_options() {
  return {
      choice_option("recv", {"single", "multishot"},
                    "single: one submission for each read, right into the flow; multishot: one for all, into "
                    "buffers that "
                    "connections share, and copied from there"),
      choice_option(
          "send", {"plain", "zerocopy"},
          "zerocopy: the network card reads the process's memory (IORING_OP_SEND_ZC), a server's echoes "
          "excepted, whose buffer is needed again at once; over loopback the kernel copies all the same"),
      boolean_option("sqpoll", false,
                     "a thread of the kernel's for each loop polls for submissions; its CPU time is counted"),
      integer_option("entries", {Settings{}.entries, 8, 32'768}, "submissions that a loop's ring holds")};
}

}  // namespace netdyno::uring_worker
