#include "uring/settings.h"

#include <string>

#include "kit/options.h"

namespace netdyno::uring_worker {

using contract::Json;
using contract::Option;

Settings Settings::of(const contract::Setup& setup) {
  const Json& options = setup.options;
  Settings settings;
  settings.entries = options.at("entries").get<unsigned>();
  settings.sqpoll = options.at("sqpoll").get<bool>();
  settings.multishot = options.at("recv").get<std::string>() == "multishot";
  settings.zero_copy = options.at("send").get<std::string>() == "zerocopy";
  settings.stamped = options.value("replies", "wake") == "stamp" && setup.load.rate > 0;
  if (settings.stamped && (settings.multishot || settings.sqpoll)) {
    throw contract::Failure(contract::ErrorKind::unsupported,
                            "option replies is stamp: it needs recv=single and sqpoll=false");
  }
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
      only(contract::Role::client,
           choice_option(
               "replies", {"wake", "stamp"},
               "open loop: wake, each reply wakes the loop; stamp, it is read when the next exchange "
               "is due, 1 ms later at most, with the time at which the kernel had it "
               "(SO_TIMESTAMPNS): half the wake-ups, and a client's own is in no time")),
      boolean_option("sqpoll", false,
                     "a kernel thread for each loop polls for submissions; its CPU time is counted"),
      integer_option("entries", {Settings{}.entries, 8, 32'768}, "submissions that a loop's ring holds")};
}

}  // namespace netdyno::uring_worker
