#include "uring/settings.h"

#include <string>

namespace netdyno::uring_worker {

using contract::Json;
using contract::Option;
using contract::OptionType;

Settings Settings::of(const Json& options) {
  Settings settings;
  settings.entries = options.at("entries").get<unsigned>();
  settings.sqpoll = options.at("sqpoll").get<bool>();
  settings.multishot = options.at("recv").get<std::string>() == "multishot";
  settings.zero_copy = options.at("send").get<std::string>() == "zerocopy";
  return settings;
}

std::vector<Option> setting_options() {
  Option recv;
  recv.name = "recv";
  recv.type = OptionType::choice;
  recv.fallback = "single";
  recv.choices = {"single", "multishot"};
  recv.doc =
      "single: one submission for each read, right into the flow; multishot: one for all, into buffers that "
      "connections share, and copied from there";

  Option send;
  send.name = "send";
  send.type = OptionType::choice;
  send.fallback = "plain";
  send.choices = {"plain", "zerocopy"};
  send.doc =
      "zerocopy: the network card reads the process's memory (IORING_OP_SEND_ZC), a server's echoes "
      "excepted, whose buffer is needed again at once; over loopback the kernel copies all the same";

  Option sqpoll;
  sqpoll.name = "sqpoll";
  sqpoll.type = OptionType::boolean;
  sqpoll.fallback = false;
  sqpoll.doc = "a thread of the kernel's for each loop polls for submissions; its CPU time is counted";

  Option entries;
  entries.name = "entries";
  entries.type = OptionType::integer;
  entries.fallback = Settings{}.entries;
  entries.min = 8;
  entries.max = 32'768;
  entries.doc = "submissions that a loop's ring holds";

  return {recv, send, sqpoll, entries};
}

}  // namespace netdyno::uring_worker
