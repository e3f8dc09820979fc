// Ends of HTTP/2 on the rings of the uring worker.
//
// Layer: above uring, kit/ends.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kit/ends.h"
#include "uring/client.h"
#include "uring/server.h"

namespace netdyno::h2 {

/// The rings' options, without sending by MSG_ZEROCOPY: a session's buffers are filled again
/// before the network card need be done with them.
inline std::vector<contract::Option> ring_options() {
  std::vector<contract::Option> options = uring_worker::setting_options();
  std::erase_if(options, [](const contract::Option& option) { return option.name == "send"; });
  return options;
}

inline uring_worker::Settings ring_settings(const contract::Setup& setup) {
  contract::Setup plain = setup;
  plain.options["send"] = "plain";
  return uring_worker::Settings::of(plain);
}

/// What makes a server's loops, and a client's.
inline std::function<std::unique_ptr<ServerLoop>()> server_loops(const contract::Setup& setup) {
  return
      [settings = ring_settings(setup)] { return std::make_unique<uring_worker::UringServerLoop>(settings); };
}
inline std::function<std::unique_ptr<ClientLoop>()> client_loops(const contract::Setup& setup) {
  return
      [settings = ring_settings(setup)] { return std::make_unique<uring_worker::UringClientLoop>(settings); };
}

}  // namespace netdyno::h2
