#include "threads/settings.h"

#include <algorithm>
#include <string>

#include "kit/options.h"

namespace netdyno::threads_worker {

using contract::ErrorKind;
using contract::Failure;
using contract::Option;

namespace {

constexpr char kSend[] = "send";
constexpr char kReceive[] = "receive";
constexpr char kLowat[] = "lowat";

// In the order of their enumerations.
const std::vector<std::string> kSends = {"write", "sendfile", "splice", "zerocopy"};
const std::vector<std::string> kReceives = {"read", "truncate", "splice"};

/// The position of an option's level among its choices. Another level than the first is
/// for wire stream alone.
std::size_t level(const contract::Setup& setup, const char* name, const std::vector<std::string>& choices) {
  const auto text = setup.options.at(name).get<std::string>();
  if (text != choices.front() && setup.exchange.stream == contract::Stream::none) {
    throw Failure(ErrorKind::setup, "option " + std::string(name) + " is " + text +
                                        ", which only wire stream has; expected " + choices.front());
  }
  return static_cast<std::size_t>(std::find(choices.begin(), choices.end(), text) - choices.begin());
}

}  // namespace

Settings Settings::of(const contract::Setup& setup) {
  if (setup.threads > 0) {
    throw Failure(
        ErrorKind::unsupported,
        "transport threads has one thread for each connection, which cannot be changed (threads is " +
            std::to_string(setup.threads) + ", expected 0)");
  }
  if (setup.load.connections > kMaxConnections) {
    throw Failure(ErrorKind::unsupported,
                  "load.connections is " + std::to_string(setup.load.connections) +
                      "; transport threads has one thread for each and takes at most " +
                      std::to_string(kMaxConnections) + ". Event loops (uring, asio, libevent) take more");
  }
  Settings settings;
  settings.send = static_cast<Send>(level(setup, kSend, kSends));
  settings.receive = static_cast<Receive>(level(setup, kReceive, kReceives));
  settings.lowat = setup.options.at(kLowat).get<std::int64_t>();
  return settings;
}

std::vector<Option> setting_options() {
  return {
      choice_option(
          kSend, kSends,
          "wire stream. sendfile: from a file in memory that holds the block; splice: the process's "
          "pages through a pipe (vmsplice, splice); zerocopy: the process's pages by MSG_ZEROCOPY, "
          "which the kernel copies after all on loopback: at its end the worker says how many"),
      choice_option(kReceive, kReceives,
                    "wire stream, after the verified exchange. truncate: MSG_TRUNC drops the bytes in the "
                    "kernel; splice: through a pipe to /dev/null. Neither reaches the process's memory; "
                    "delivery is chunks all the same"),
      bytes_option(kLowat, {0, 0, 64 << 20},
                   "SO_RCVLOWAT: the kernel wakes a thread that receives once so many bytes are there, or "
                   "the rest of a message if that is less; 0 leaves it at one")};
}

}  // namespace netdyno::threads_worker
