// The options of transport verbs, as its engine uses them.
//
// Layer: above the kit's options. A plain value; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kit/contract.h"

namespace netdyno::verbs {

/// How a message travels. Both ends of a connection use the same.
enum class Operation : std::uint8_t {
  send = 1,   // sent into a buffer that the receiver has posted
  write = 2,  // written into the receiver's ring, which is told by an immediate
  read = 3,   // announced, and pulled by the receiver
};

std::string_view name(Operation operation);

struct Settings {
  Operation operation = Operation::send;
  std::uint32_t inline_bytes = 0;  // messages up to this go with the request itself
  std::uint32_t window = 64;       // messages outstanding on a connection
  bool waits = false;              // for an event of the card; else it polls
  std::string device;              // empty: the one that carries the trial's address
  int gid_index = -1;              // -1: the one of the trial's address
  std::uint32_t mtu_bytes = 0;     // 0: the port's

  static Settings of(const contract::Json& options);
};

/// The options' description, for the transport's.
std::vector<contract::Option> setting_options();

}  // namespace netdyno::verbs
