// What a trial asks of UCX, and the configuration that follows.
//
// Layer: above the kit's contract. Plain functions and values; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kit/contract.h"
#include "kit/message_ends.h"

namespace netdyno::ucx {

/// The operations of UCP that can carry messages.
enum class Operation { tag, am, stream, put, get };

struct Settings {
  Operation operation = Operation::tag;
  std::string tls;         // option tls as it was given
  bool cuda = false;       // messages lie in device memory
  bool event = false;      // an idle worker sleeps
  std::size_t window = 0;  // messages outstanding on a connection

  /// options are complete.
  static Settings of(const contract::Json& options);
};

std::vector<contract::Option> setting_options();
std::string name(Operation operation);

/// What the trial demands of the messages' way. UCX has a worker per loop.
MessageDemands demands(const Settings& settings);

/// The devices of UCX that belong to the network of an address: its interface, and the
/// RDMA ports whose interface it is. Empty when no interface has it.
std::vector<std::string> devices_of(const std::string& host);

/// UCX's settings by name, without their prefix UCX_. Throws Failure{unsupported} for a
/// way that this host does not have.
std::vector<std::pair<std::string, std::string>> configuration(const Settings& settings,
                                                               const std::vector<std::string>& devices);

/// The variables UCX_… of this process's environment, as "NAME=value NAME=value"; empty
/// when there are none. UCX heeds them where the trial sets nothing else.
std::string environment();

}  // namespace netdyno::ucx
