// Ends of HTTP/2 on the rings of the uring worker.
//
// Layer: above uring, kit/ends.
#pragma once

#include <memory>
#include <utility>
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
  contract::Json options = setup.options;
  options["send"] = "plain";
  return uring_worker::Settings::of(options);
}

inline std::unique_ptr<Server> ring_server(const contract::Setup& setup, std::unique_ptr<const Work> work) {
  const auto make = [settings = ring_settings(setup)] {
    return std::make_unique<uring_worker::UringServerLoop>(settings);
  };
  return std::make_unique<LoopServer>(setup, make, std::move(work));
}

inline std::unique_ptr<Client> ring_client(const contract::Setup& setup, Load& load,
                                           std::unique_ptr<const Work> work) {
  const auto make = [settings = ring_settings(setup)] {
    return std::make_unique<uring_worker::UringClientLoop>(settings);
  };
  return std::make_unique<LoopClient>(setup, load, make, std::move(work));
}

}  // namespace netdyno::h2
