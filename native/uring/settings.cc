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
                    "single: one submission for each read, into the connection's own buffer; multishot: one "
                    "submission for all reads, into buffers that connections share, with a copy from there"),
      choice_option(
          "send", {"plain", "zerocopy"},
          "zerocopy: the network card reads the process's memory (IORING_OP_SEND_ZC), except for a server's "
          "echoes, whose buffer is needed again at once; over loopback the kernel copies anyway"),
      boolean_option("sqpoll", false,
                     "a kernel thread for each loop polls for submissions; its CPU time is counted"),
      integer_option("entries", {Settings{}.entries, 8, 32'768}, "submissions that a loop's ring holds")};
}

}  // namespace netdyno::uring_worker
